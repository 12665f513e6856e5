package actor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFreshActorsGoBeforeUsedOnesWhichDoNotStarve(t *testing.T) {
	var q fairQueue
	used := []*core{{uid: 1}, {uid: 2}}
	for _, c := range used {
		q.used.push(c)
	}
	for n := range 3 * usedAfter {
		q.fresh.push(&core{uid: uint64(100 + n)})
	}
	var at []int
	for n := 0; q.size() > 0; n++ {
		if c := q.pop(); c.uid < 100 {
			require.Same(t, used[len(at)], c)
			at = append(at, n)
		}
	}
	require.Equal(t, []int{usedAfter, 2*usedAfter + 1}, at)
	require.Nil(t, q.pop())
	q.used.push(used[0])
	require.Same(t, used[0], q.pop(), "no fresh one waits")
}

func TestATurnEndsSoonAfterItsTimeWhateverItsMessagesTake(t *testing.T) {
	for _, message := range []time.Duration{15 * time.Nanosecond, time.Microsecond, 20 * time.Microsecond, time.Millisecond} {
		var stride uint8
		for range 10 { // turns: the stride is learned
			now := time.Second
			begun, handled := now, 0
			clock := turnClock{left: int(max(stride, 1))}
			for clock.left > 0 && handled < batchSize {
				now, handled = now+message, handled+1
				if clock.left--; clock.left == 0 && clock.look(now, &stride) {
					break
				}
			}
			require.LessOrEqual(t, now-begun, maxTurn+longStride+2*message, message)
		}
		if message < 100*time.Nanosecond {
			require.EqualValues(t, maxStride, stride)
		}
	}
}

func TestAnActorThatWasFastAndIsSlowEndsItsNextTurnAndLearns(t *testing.T) {
	stride := uint8(maxStride)
	clock, now := turnClock{left: maxStride}, time.Second
	require.False(t, clock.look(now, &stride))
	require.True(t, clock.look(now+maxStride*time.Millisecond, &stride))
	require.EqualValues(t, 1, stride)
}
