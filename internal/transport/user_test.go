package transport_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

func TestMessagesArriveOnceAndInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		n.Delay(time.Millisecond, 5*time.Millisecond)
		a, b := start(t, n, "a"), start(t, n, "b")
		inbox, _ := spawn[int](b, "inbox")
		to := ref[int](a, b, "/user/inbox")
		for i := range 1000 {
			to.Tell(i)
		}
		soon()
		require.Equal(t, count(1000), inbox.got())
		require.Empty(t, a.lost.got())
	})
}

// Many actors of several nodes tell one; each of them is heard in its order, however
// they mix.
func TestEachOfManySendersIsInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		n.Delay(time.Millisecond, 5*time.Millisecond)
		hub := start(t, n, "hub")
		inbox, _ := spawn[string](hub, "inbox")
		var senders sync.WaitGroup
		for _, name := range []string{"a", "b", "c"} {
			to := ref[string](start(t, n, name), hub, "/user/inbox")
			for sender := range 4 {
				senders.Go(func() {
					for i := range 200 {
						to.Tell(fmt.Sprintf("%s%d %d", name, sender, i))
						time.Sleep(time.Duration(sender) * 100 * time.Microsecond)
					}
				})
			}
		}
		senders.Wait()
		soon()
		next := map[string]int{}
		for _, text := range inbox.got() {
			var sender string
			var i int
			_, err := fmt.Sscan(text, &sender, &i)
			require.NoError(t, err)
			require.Equal(t, next[sender], i, sender)
			next[sender]++
		}
		require.Len(t, inbox.got(), 3*4*200)
	})
}

func TestRefInAMessageCanBeAnswered(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		spawnAdder(b.sys)
		require.Equal(t, 42, ask(t, ref[question](a, b, "/user/adder"), 41))
	})
}

func TestMessageIsEncodedWhenItIsSent(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		inbox, _ := spawn[[]int](b, "inbox")
		msg := []int{1, 2, 3}
		ref[[]int](a, b, "/user/inbox").Tell(msg)
		msg[0] = 99
		soon()
		require.Equal(t, [][]int{{1, 2, 3}}, inbox.got())
	})
}

func TestOldRefDoesNotReachTheNewActorOfTheName(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		old := actor.Spawn(b.sys, untilTold, "inbox")
		to := actor.Resolve[int](a.sys, old.String())
		to.Tell(0)
		soon()
		inbox, _ := spawn[int](b, "inbox")
		to.Tell(1)
		ref[int](a, b, "/user/inbox").Tell(2)
		soon()
		require.Equal(t, []int{2}, inbox.got())
		require.Len(t, b.lost.got(), 1)
		require.ErrorIs(t, b.lost.got()[0].Reason, actor.ErrStaleRef)
	})
}

// untilTold is an actor that stops at the first message.
func untilTold(_ *actor.Context[int], next *actor.Next[int]) {
	next.OnMessage = func(*actor.Context[int], int) actor.Behavior[int] {
		return func(_ *actor.Context[int], next *actor.Next[int]) { next.Stop() }
	}
}

// unregistered has no name on the wire.
type unregistered struct{ X int }

func TestUnregisteredTypeIsADeadLetterThatSaysWhatToDo(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		to := ref[unregistered](a, b, "/user/inbox")
		to.Tell(unregistered{1})
		to.Tell(unregistered{2})
		soon()
		lost := a.lost.got()
		require.Len(t, lost, 2)
		require.Equal(t, to.Path(), lost[0].Recipient)
		require.Equal(t, unregistered{1}, lost[0].Message)
		var missing *codec.UnregisteredError
		require.ErrorAs(t, lost[0].Reason, &missing)

		lines := a.logs.FilterMessage("message cannot be encoded").All()
		require.Len(t, lines, 2)
		require.Equal(t, zap.WarnLevel, lines[0].Level, "the first one is loud")
		require.Contains(t, lines[0].ContextMap()["error"], "actor.RegisterType[transport_test.unregistered]")
		require.Equal(t, zap.DebugLevel, lines[1].Level)
	})
}

func TestWhatTheReceiverCannotDecodeIsReportedAndTheConnectionKept(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		b := start(t, n, "b")
		inbox, _ := spawn[int](b, "inbox")
		conn := dialUser(t, n, b)
		conn.tell("unknown", 1)
		conn.tell("unknown", 2)
		conn.tell("int", "no number")
		conn.tell("int", 7)
		soon()
		require.Equal(t, []int{7}, inbox.got())
		require.Equal(t, uint64(4), conn.acknowledged(), "the connection is kept, and all of them are done with")

		lost := b.lost.got()
		require.Len(t, lost, 3)
		require.Equal(t, "understudy://test@"+b.Addr()+"/user/inbox", lost[0].Recipient)
		var unknown *codec.UnknownNameError
		require.ErrorAs(t, lost[0].Reason, &unknown)
		require.Equal(t, "unknown", lost[0].Message.(extension.Payload).Type)
		var decode *codec.DecodeError
		require.ErrorAs(t, lost[2].Reason, &decode)

		lines := b.logs.FilterMessage("message cannot be decoded").All()
		require.Equal(t, zap.WarnLevel, lines[0].Level)
		require.Contains(t, lines[0].ContextMap()["error"], `actor.RegisterType[T]("unknown")`)
		require.Equal(t, zap.DebugLevel, lines[1].Level)
		require.Equal(t, zap.WarnLevel, lines[2].Level, "another type, another first time")
	})
}

func TestTooLargeMessageIsADeadLetterOfTheSender(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a", func(cfg *transport.Config) { cfg.MaxMessage = 1000 })
		b := start(t, n, "b")
		inbox, _ := spawn[string](b, "inbox")
		to := ref[string](a, b, "/user/inbox")
		to.Tell(strings.Repeat("x", 1000))
		ref[string](a, b, "/user/"+strings.Repeat("x", 5000)).Tell("long path")
		to.Tell("small")
		soon()
		require.Equal(t, []string{"small"}, inbox.got())
		require.Len(t, a.lost.got(), 2)
		require.ErrorIs(t, a.lost.got()[0].Reason, remote.ErrTooLarge)
		require.Equal(t, 1000, extension.MaxMessage(a.sys))
		require.ErrorIs(t, a.lost.got()[1].Reason, remote.ErrTooLarge)
	})
}

func TestLargeMessagesArrive(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		inbox, _ := spawn[string](b, "inbox")
		large := strings.Repeat("x", 3<<20)
		to := ref[string](a, b, "/user/inbox")
		to.Tell(large)
		to.Tell("small")
		to.Tell(large)
		soon()
		require.Equal(t, []string{large, "small", large}, inbox.got())
	})
}

func TestUserLaneWaitsForServe(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a := start(t, n, "a")
		b := listen(t, transport.Config{Bind: "b:7355", Network: n.Host("b")})
		inbox, _ := spawn[int](b, "inbox")
		ref[int](a, b, "/user/inbox").Tell(1)
		a.SendControl(b.Addr(), []byte("this does not wait"))
		soon()
		require.Empty(t, inbox.got())
		require.Len(t, b.control.got(), 1)
		b.Serve(b.sys)
		soon()
		require.Equal(t, []int{1}, inbox.got())
		require.Panics(t, func() { b.Serve(b.sys) })
	})
}
