package transport_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/memnet"
)

// Without TLS a peer can claim any identity, but its cost is bounded.
func TestAnUnauthenticatedPeerOfManyNamesCostsLittleMemory(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		b := start(t, n, "b")
		pretend := func(i int) *raw {
			conn := dialRaw(t, n, b)
			hello := goodHello()
			hello[helloAddr] = fmt.Sprintf("raw%d:7355", i)
			require.Zero(t, conn.greet('A', hello)[answerRefusal])
			conn.write(0, 0x3f, 0xff, 0xff, 0) // the beginning of a frame of 4 MiB
			return conn
		}
		before := heap()
		var all []*raw
		for i := range 500 {
			all = append(all, pretend(i))
		}
		soon()
		require.LessOrEqual(t, heap()-before, int64(12<<20), "while they are there")
		for _, conn := range all {
			require.NoError(t, conn.Close())
		}
		soon()
		require.LessOrEqual(t, heap()-before, int64(4<<20), "when they have gone")
	})
}

func TestFlushEndsWhenWhatWasOnTheWayIsLost(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		spawn[int](b, "inbox")
		to := ref[int](a, b, "/user/inbox")
		to.Tell(1)
		require.NoError(t, a.Flush(t.Context()))
		to.Tell(2)
		flushed := make(chan time.Time, 1)
		go func() {
			_ = a.Flush(t.Context())
			flushed <- time.Now()
		}()
		time.Sleep(ackPause) // it has been sent, and the acknowledgement is not due
		b.Rename(4711)
		begin := time.Now()
		require.Less(t, (<-flushed).Sub(begin), time.Second)
		soon()
		require.Len(t, a.lost.got(), 1)
	})
}

// ackPause is less than a receiver waits before it acknowledges.
const ackPause = 5 * time.Millisecond
