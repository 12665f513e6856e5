package actor_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// A wire is a transport that carries messages to other systems of the test, through
// their encoded form.
type wire struct{ nodes map[string]*actor.System }

func (w *wire) Send(s *actor.System, target extension.Target, msg any) {
	payload, err := extension.PackMessage(msg)
	if err != nil {
		extension.DeadLetter(s, target.Full, msg, err)
		return
	}
	node := w.nodes[target.Address]
	if node == nil {
		extension.DeadLetter(s, target.Full, msg, actor.ErrUnreachable)
		return
	}
	received, err := extension.Unpack(node, payload)
	if err != nil {
		extension.DeadLetter(node, target.Full, payload, err)
		return
	}
	extension.Dispatch(node, target.Path, target.UID, received)
}

// connected starts two systems that are connected by a wire.
func connected(t *testing.T) (a, b *actor.System) {
	t.Helper()
	w := &wire{nodes: map[string]*actor.System{}}
	for _, address := range []string{"a:1", "b:1"} {
		w.nodes[address] = testkit.NewSystem(t, testkit.WithoutEncoding(), extension.WithTransport(address, w))
	}
	return w.nodes["a:1"], w.nodes["b:1"]
}

func TestARefWorksFromAnotherNode(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *actor.System) {
		a, b := connected(t)
		p := testkit.NewProbe[int](t, b)
		for _, path := range []string{p.Ref().Path(), p.Ref().String()} {
			remote := actor.Resolve[int](a, path)
			require.Equal(t, path, map[bool]string{true: remote.String(), false: remote.Path()}[strings.Contains(path, "#")])
			remote.Tell(42)
			p.Expect(42)
		}
		require.True(t, same(p.Ref(), actor.Resolve[int](b, p.Ref().String())), "at home it is the actor's own")
	})
}

func TestATransportIsToldWhomItSendsTo(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *actor.System) {
		var targets recorder
		s := testkit.NewSystem(t, testkit.WithoutEncoding(), extension.WithTransport("here:1", &targets))
		actor.Resolve[int](s, "understudy://other@there:2/user/x/y#17").Tell(1)
		actor.Resolve[int](s, "understudy://other@there:2/user/x").Tell(1)
		require.Equal(t, recorder{
			{Address: "there:2", Path: "/user/x/y", UID: 17, Full: "understudy://other@there:2/user/x/y"},
			{Address: "there:2", Path: "/user/x", UID: 0, Full: "understudy://other@there:2/user/x"},
		}, targets)
	})
}

type recorder []extension.Target

func (r *recorder) Send(_ *actor.System, target extension.Target, _ any) { *r = append(*r, target) }

func TestDeliverTellsOnlyWhomItIsMeantFor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		dead := deadLetters(t, s)
		path := strings.TrimPrefix(p.Ref().Path(), "understudy://test")
		uid := uidOf(t, p.Ref())
		extension.Dispatch(s, path, 0, 1)
		p.Expect(1)
		extension.Dispatch(s, path, uid, 2)
		p.Expect(2)
		for _, test := range []struct {
			path   string
			uid    uint64
			msg    any
			reason error
		}{
			{path, uid + 1, 3, actor.ErrStaleRef},
			{path, uid, "three", actor.ErrWrongType},
			{path, uid, nil, actor.ErrWrongType},
			{path + "/child", 0, 3, actor.ErrNoSuchActor},
			{"/user", 0, 3, actor.ErrNoSuchActor},
			{"/user/", 0, 3, actor.ErrNoSuchActor},
			{"/elsewhere/x", 0, 3, actor.ErrNoSuchActor},
			{"/temp/1", 0, 3, actor.ErrNoSuchActor},
			{"/temp/x", 0, 3, actor.ErrNoSuchActor},
			{"/temp", 1, 3, actor.ErrNoSuchActor},
			{"/ask", 1, 3, actor.ErrLateReply},
			{"/ask/1", 1, 3, actor.ErrLateReply},
			{"", 0, 3, actor.ErrNoSuchActor},
		} {
			extension.Dispatch(s, test.path, test.uid, test.msg)
			lost := dead.Receive()
			require.ErrorIs(t, lost.Reason, test.reason, test.path)
			require.Equal(t, test.msg, lost.Message)
		}
	})
}

func uidOf(t *testing.T, ref actor.AnyRef) uint64 {
	t.Helper()
	_, number, _ := strings.Cut(ref.String(), "#")
	uid, err := strconv.ParseUint(number, 10, 64)
	require.NoError(t, err)
	return uid
}

func TestAnAskAcrossNodesLeavesNothingBehind(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *actor.System) {
		a, b := connected(t)
		dead := deadLetters(t, a)
		waysBack := testkit.NewProbe[actor.ActorRef[int]](t, b)
		ref := actor.Spawn(b, behaviors.Receive(func(_ *actor.Context[parcel], p parcel) actor.Behavior[parcel] {
			p.ReplyTo.Tell(p.N + 1)
			waysBack.Ref().Tell(p.ReplyTo)
			return behaviors.Same
		}), "remote")
		remote := actor.Resolve[parcel](a, ref.String())
		require.Equal(t, 42, testkit.Ask(t.Context(), t, remote, func(r actor.ActorRef[int]) parcel { return parcel{41, r} }))
		waysBack.Receive().Tell(43)
		lost := dead.Receive()
		require.Equal(t, 43, lost.Message)
		require.ErrorIs(t, lost.Reason, actor.ErrLateReply)
	})
}

func TestAnAskThatHasEndedCannotBeSentToOtherNodesAnyMore(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *actor.System) {
		a, b := connected(t)
		dead := deadLetters(t, a)
		var wayBack actor.ActorRef[int]
		local := actor.Spawn(a, answering(func(_ *actor.Context[question], q question) {
			wayBack = q.replyTo
			q.replyTo.Tell(1)
		}), "local")
		testkit.Ask(t.Context(), t, local, ask)
		ref := actor.Spawn(b, behaviors.Receive(func(_ *actor.Context[parcel], p parcel) actor.Behavior[parcel] {
			p.ReplyTo.Tell(2)
			return behaviors.Same
		}), "remote")
		actor.Resolve[parcel](a, ref.String()).Tell(parcel{ReplyTo: wayBack})
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrLateReply)
	})
}

func TestAnAdapterIsReachableFromOtherNodesUntilItsActorEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *actor.System) {
		a, b := connected(t)
		p := testkit.NewProbe[string](t, a)
		dead := deadLetters(t, a)
		parcels := testkit.NewProbe[parcel](t, b)
		ref, adapter := adapt(t, a, obedient(), func(int) order { return say(p, "adapted") })
		for range 2 { // sending it twice changes nothing
			actor.Resolve[parcel](a, parcels.Ref().String()).Tell(parcel{ReplyTo: adapter})
		}
		remote := parcels.Receive().ReplyTo
		require.Equal(t, remote, parcels.Receive().ReplyTo)
		remote.Tell(1)
		p.Expect("adapted")
		ref.Tell(stop)
		p.ExpectTerminated(ref)
		settle() // the probe may hear of the end before what keeps the adapter reachable does
		remote.Tell(2)
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrNoSuchActor)
	})
}

func TestAnExportedRefTakesMessagesOfItsTypeOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *actor.System) {
		a, b := connected(t)
		dead := deadLetters(t, a)
		parcels := testkit.NewProbe[parcel](t, b)
		_, adapter := adapt(t, a, obedient(), func(int) order { return nil })
		remote := actor.Resolve[parcel](a, parcels.Ref().String())
		expectWrongType := func() {
			t.Helper()
			wayBack := parcels.Receive().ReplyTo
			actor.Resolve[string](b, wayBack.String()).Tell("not an int")
			lost := dead.Receive()
			require.Equal(t, "not an int", lost.Message)
			require.ErrorIs(t, lost.Reason, actor.ErrWrongType)
		}
		remote.Tell(parcel{ReplyTo: adapter})
		expectWrongType()
		answer := make(chan int)
		go func() {
			answer <- testkit.Ask(t.Context(), t, remote, func(r actor.ActorRef[int]) parcel {
				remote.Tell(parcel{ReplyTo: r}) // once for the wrong answer
				return parcel{ReplyTo: r}       // and once for the right one
			})
		}()
		expectWrongType()
		parcels.Receive().ReplyTo.Tell(42)
		require.Equal(t, 42, <-answer)
	})
}

// A parcel is a message that may leave the node.
type parcel struct {
	N       int
	ReplyTo actor.ActorRef[int]
}

func init() { actor.RegisterType[parcel]("test.parcel") }

func TestAnActorIsStartingUntilItsBehaviorHasRun(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		require.False(t, extension.Starting(s, "/user/x"), "no actor lives there")
		broken := behaviors.Setup(func(*actor.Context[int]) actor.Behavior[int] { panic("told to") })
		for name, b := range map[string]actor.Behavior[int]{
			"sound":  behaviors.Ignore[int],
			"broken": behaviors.Supervise(broken, actor.Strategy{Backoff: actor.Backoff{Min: time.Hour}}),
		} {
			actor.Spawn(s, func(ctx *actor.Context[int], next *actor.Next[int]) {
				time.Sleep(time.Second)
				b(ctx, next)
			}, name)
			require.True(t, extension.Starting(s, "/user/"+name))
			time.Sleep(time.Minute)
			require.False(t, extension.Starting(s, "/user/"+name))
		}
	})
}
