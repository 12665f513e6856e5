package transport_test

import (
	"strings"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

func large(cfg *transport.Config) { cfg.MaxMessage, cfg.OutboxBytes = 128<<20, 256<<20 }

func TestALargeMessageDelaysNeitherOthersNorControlFrames(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a", large), start(t, n, "b", large)
		sink, _ := spawn[[]byte](b, "sink")
		inbox, _ := spawn[int](b, "inbox")
		ref[int](a, b, "/user/inbox").Tell(0)
		soon()
		ref[[]byte](a, b, "/user/sink").Tell(make([]byte, 100<<20))
		ref[[]byte](a, b, "/user/sink").Tell([]byte("behind"))
		ref[int](a, b, "/user/inbox").Tell(1)
		a.SendControl(b.Addr(), []byte("beat"))
		time.Sleep(10 * time.Millisecond)
		require.Equal(t, count(2), inbox.got())
		require.Len(t, b.control.got(), 1)
		require.Empty(t, sink.got(), "it is still on its way")
		time.Sleep(time.Minute)
		got := sink.got()
		require.Len(t, got, 2)
		require.Len(t, got[0], 100<<20)
		require.Equal(t, "behind", string(got[1]))
	})
}

func TestAMessageMayTakeLongerThanAPeerMayBeSilent(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a", large), start(t, n, "b", large)
		sink, _ := spawn[[]byte](b, "sink")
		n.Delay(200*time.Millisecond, 0)
		ref[[]byte](a, b, "/user/sink").Tell(make([]byte, 10<<20))
		time.Sleep(8 * time.Second)
		require.Empty(t, sink.got())
		time.Sleep(20 * time.Second)
		require.Len(t, sink.got(), 1)
		require.Empty(t, a.lost.got())
	})
}

func TestAMessageBeyondTheLimitHurtsNoConnection(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		sink, _ := spawn[[]byte](b, "sink")
		to := ref[[]byte](a, b, "/user/sink")
		to.Tell([]byte("first"))
		to.Tell(make([]byte, 5<<20))
		to.Tell([]byte("last"))
		soon()
		require.Equal(t, [][]byte{[]byte("first"), []byte("last")}, sink.got())
		lost := a.lost.got()
		require.Len(t, lost, 1)
		require.ErrorIs(t, lost[0].Reason, remote.ErrTooLarge)
		require.ErrorContains(t, lost[0].Reason, "the limit is 4194304")
		require.Zero(t, b.logs.FilterMessage("connection closed").Len())
	})
}

func TestAMessageThatOnlyTheReceiverFindsTooLargeIsADeadLetter(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a", large), start(t, n, "b")
		sink, _ := spawn[[]byte](b, "sink")
		to := ref[[]byte](a, b, "/user/sink")
		to.Tell(make([]byte, 5<<20))
		time.Sleep(time.Minute)
		require.Empty(t, sink.got())
		require.Empty(t, a.lost.got(), "it is the receiver's, whose session goes on")
		lost := b.lost.got()
		require.Len(t, lost, 1)
		require.ErrorIs(t, lost[0].Reason, remote.ErrTooLarge)
		to.Tell([]byte("last"))
		time.Sleep(time.Minute)
		require.Equal(t, [][]byte{[]byte("last")}, sink.got())
	})
}

func TestCompressedMessagesArriveAsTheyWere(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		compress := func(cfg *transport.Config) { cfg.CompressFrom = 100 }
		a, b := start(t, n, "a", compress, large), start(t, n, "b") // b compresses nothing, and takes 4 MiB
		sink, _ := spawn[string](b, "sink")
		to := ref[string](a, b, "/user/sink")
		var want []string
		for _, text := range []string{"short", strings.Repeat("long ", 100), strings.Repeat("very long ", 300_000)} {
			to.Tell(text)
			want = append(want, text)
		}
		soon()
		require.Equal(t, want, sink.got())
		n.Crash("b")
		to.Tell(want[1])
		time.Sleep(time.Minute)
		lost := a.lost.got()
		require.Len(t, lost, 1)
		require.Equal(t, want[1], lost[0].Message, "a dead letter is the message")
	})
}
