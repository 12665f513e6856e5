package actor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// A lookout is a transport that watches, as far as the test says.
type lookout struct {
	recorder
	ended   []func()
	stopped int
}

func (l *lookout) Watch(_ *actor.System, target extension.Target, ended func()) (stop func()) {
	l.recorder = append(l.recorder, target)
	l.ended = append(l.ended, ended)
	return func() { l.stopped++ }
}

func TestATransportThatWatchesTellsOfTheEndOfActorsOnOtherNodes(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *actor.System) {
		far := &lookout{}
		s := testkit.NewSystem(t, testkit.WithoutEncoding(), extension.WithTransport("here:1", far))
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, watcher(p), "")
		target := actor.Resolve[int](s, "understudy://test@there:2/user/x#17")
		ref.Tell(watch(target))
		ref.Tell(watch(target))
		synctest.Wait()
		require.Len(t, far.recorder, 1, "watching twice is watching once")
		require.Equal(t, uint64(17), far.recorder[0].UID)
		far.ended[0]()
		p.Expect("watcher Terminated")

		ref.Tell(watch(target))
		ref.Tell(do(func(ctx *actor.Context[order]) { ctx.Unwatch(target) }))
		synctest.Wait()
		require.Equal(t, 1, far.stopped)
		far.ended[1]()
		ref.Tell(watch(target))
		ref.Tell(stop)
		synctest.Wait()
		require.Equal(t, 2, far.stopped, "the end of the watcher ends its watches")
		p.Expect("watcher PostStop")
	})
}

func TestOnEndCallsOnceWhenTheActorOfThatNumberHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		var ends []string
		end := func(what string) func() { return func() { ends = append(ends, what) } }
		ref := actor.Spawn(s, obedient(), "x")
		extension.OnEnd(s, "/user/x", 0, end("path"))
		extension.OnEnd(s, "/user/x", uidOf(t, ref), end("number"))
		extension.OnEnd(s, "/user/x", uidOf(t, ref), end("stopped"))()
		require.Empty(t, ends)
		extension.OnEnd(s, "/user/x", uidOf(t, ref)+1, end("another"))
		extension.OnEnd(s, "/user/y", 0, end("no actor"))
		require.Equal(t, []string{"another", "no actor"}, ends)
		ref.Tell(stop)
		synctest.Wait()
		require.Equal(t, []string{"another", "no actor", "path", "number"}, ends)
	})
}

func TestShutdownWaitsUntilWatchersHaveBeenToldOfEveryEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		actor.Spawn(s, obedient(), "x")
		actor.Spawn(s, obedient(), "y")
		told := make(chan struct{})
		extension.OnEnd(s, "/user/x", 0, func() { <-told })
		down := make(chan error, 1)
		go func() { down <- s.Shutdown(context.Background()) }()
		synctest.Wait()
		require.Empty(t, down)
		close(told)
		require.NoError(t, <-down)
	})
}

// A numberRequest asks for a number from another node.
type numberRequest struct{ to actor.ActorRef[int] }

// asked asks an actor of another node, and returns how that ends.
func asked(t *testing.T, s *actor.System, path string) chan error {
	t.Helper()
	ended := make(chan error, 1)
	ref := actor.Resolve[numberRequest](s, "understudy://test@"+path)
	go func() {
		_, err := actor.Ask(context.Background(), ref, func(to actor.ActorRef[int]) numberRequest { return numberRequest{to} })
		ended <- err
	}()
	synctest.Wait()
	return ended
}

func TestAsksOfANodeThatIsGoneEndAndOthersDoNot(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *actor.System) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding(), extension.WithTransport("here:1", &recorder{}))
		there, elsewhere := asked(t, s, "there:2/user/x"), asked(t, s, "elsewhere:3/user/x")
		extension.EndAsks(s, "there:2", anyAsk)
		require.EqualError(t, <-there, "ask understudy://test@there:2/user/x: actor: node cannot be reached: there:2 was removed from the cluster before it replied")
		synctest.Wait()
		require.Empty(t, elsewhere)
		extension.EndAsks(s, "elsewhere:3", anyAsk)
		require.ErrorIs(t, <-elsewhere, actor.ErrUnreachable)
	})
}

// The refs to asks are not shared, unlike all others.
func TestAsksOfAsksAndAdaptersOfANodeThatIsGoneEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *actor.System) {
		sent := &recorder{}
		s := testkit.NewSystem(t, testkit.WithoutEncoding(), extension.WithTransport("here:1", sent))
		pending := []chan error{asked(t, s, "there:2/ask/5#5"), asked(t, s, "there:2/ask/5#5"), asked(t, s, "there:2/temp/6")}
		require.Equal(t, recorder{
			{Address: "there:2", Path: "/ask", UID: 5, Full: "understudy://test@there:2/ask/5"},
			{Address: "there:2", Path: "/ask", UID: 5, Full: "understudy://test@there:2/ask/5"},
			{Address: "there:2", Path: "/temp", UID: 6, Full: "understudy://test@there:2/temp/6"},
		}, *sent)
		extension.EndAsks(s, "there:2", anyAsk)
		for _, one := range pending {
			require.ErrorIs(t, <-one, actor.ErrUnreachable)
		}
	})
}

// A forwarder passes what it gets on to the actor that it was told of last.
func forwarder(to actor.ActorRef[numberRequest]) actor.Behavior[any] {
	return func(_ *actor.Context[any], next *actor.Next[any]) {
		next.OnMessage = func(ctx *actor.Context[any], msg any) actor.Behavior[any] {
			switch msg := msg.(type) {
			case actor.ActorRef[numberRequest]:
				to = msg
			case numberRequest:
				extension.Describe(ctx, msg).PassOn(to)
			}
			return nil
		}
	}
}

func TestAnAskWhoseRequestIsPassedOnEndsLikeOneOfTheActorThatHasIt(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *actor.System) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding(), extension.WithTransport("here:1", &recorder{}))
		at := func(node string) actor.ActorRef[numberRequest] {
			return actor.Resolve[numberRequest](s, "understudy://test@"+node+"/user/x#7")
		}
		via := actor.Spawn(s, forwarder(at("there:2")), "via")
		ask := func() chan error {
			ended := make(chan error, 1)
			go func() {
				_, err := actor.Ask(context.Background(), via, func(to actor.ActorRef[int]) any { return numberRequest{to} })
				ended <- err
			}()
			synctest.Wait()
			return ended
		}
		there := ask()
		via.Tell(at("elsewhere:3"))
		elsewhere := ask()
		extension.EndAsks(s, "there:2", anyAsk)
		require.EqualError(t, <-there, "ask understudy://test@here:1/user/via: actor: node cannot be reached: there:2 was removed from the cluster before it replied")
		synctest.Wait()
		require.Empty(t, elsewhere)
		extension.EndAsks(s, "elsewhere:3", anyAsk)
		require.ErrorIs(t, <-elsewhere, actor.ErrUnreachable)

		extension.NodeGone(s, "elsewhere:3", func(uint64) bool { return true })
		require.ErrorContains(t, <-ask(), "elsewhere:3 was removed from the cluster", "it is gone before the request is passed on")

		here := actor.Spawn(s, func(_ *actor.Context[numberRequest], next *actor.Next[numberRequest]) {
			next.OnMessage = func(*actor.Context[numberRequest], numberRequest) actor.Behavior[numberRequest] {
				return func(_ *actor.Context[numberRequest], next *actor.Next[numberRequest]) { next.Stop() }
			}
		}, "")
		via.Tell(here)
		require.ErrorIs(t, <-ask(), actor.ErrTerminated)
	})
}

func anyAsk(_, _ uint64) bool { return true }

func TestAsksOfActorsThatAreGoneForGoodEndAtOnceAndAreDeadLetters(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *actor.System) {
		sent := &recorder{}
		s := testkit.NewSystem(t, testkit.WithoutEncoding(), extension.WithTransport("here:1", sent))
		extension.NodeGone(s, "there:2", func(uid uint64) bool { return uid == 7 })
		dead := testkit.NewProbe[actor.DeadLetter](t, s)
		actor.Subscribe(s, dead.Ref())
		gone := "understudy://test@there:2/user/x#7"
		require.EqualError(t, <-asked(t, s, "there:2/user/x#7"),
			"ask understudy://test@there:2/user/x: actor: node cannot be reached: there:2 was removed from the cluster")
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrUnreachable)
		answers := testkit.NewProbe[error](t, s)
		actor.Spawn(s, func(ctx *actor.Context[error], next *actor.Next[error]) {
			actor.AskToSelf(ctx, actor.Resolve[numberRequest](s, gone), 0, func(to actor.ActorRef[int]) numberRequest { return numberRequest{to} },
				func(_ int, err error) error { return err })
			next.OnMessage = func(_ *actor.Context[error], err error) actor.Behavior[error] {
				answers.Ref().Tell(err)
				return nil
			}
		}, "")
		require.ErrorIs(t, answers.Receive(), actor.ErrUnreachable)
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrUnreachable)
		dead.ExpectNone(time.Hour)

		for _, other := range []string{"there:2/user/x", "there:2/user/x#8", "elsewhere:3/user/x#7"} {
			require.Empty(t, asked(t, s, other))
		}
		extension.NodeBack(s, "there:2")
		require.Empty(t, asked(t, s, "there:2/user/x#7"))
	})
}

func TestAsksOfOtherNodesEndWithTheSystemThatAsks(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *actor.System) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding(), extension.WithTransport("here:1", &recorder{}))
		before := asked(t, s, "there:2/user/x")
		require.NoError(t, s.Shutdown(t.Context()))
		require.EqualError(t, <-before,
			"ask understudy://test@there:2/user/x: actor: node cannot be reached: this system has been shut down before it replied")
		require.ErrorIs(t, <-asked(t, s, "there:2/user/x"), actor.ErrUnreachable)
		require.ErrorIs(t, <-asked(t, s, "elsewhere:3/user/x"), actor.ErrUnreachable)
	})
}

func TestAsksOfOtherNodesEndWhenAnActorDoesNot(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *actor.System) {
		s := actor.NewSystem("test", extension.WithTransport("here:1", &recorder{}))
		done := make(chan struct{})
		defer close(done)
		actor.Spawn(s, obedient(), "busy").Tell(do(func(*actor.Context[order]) { <-done }))
		far := asked(t, s, "there:2/user/x")
		require.ErrorContains(t, s.Shutdown(t.Context()), "/user/busy")
		require.ErrorIs(t, <-far, actor.ErrUnreachable)
	})
}
