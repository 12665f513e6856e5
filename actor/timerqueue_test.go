package actor

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A note says when its timer has expired.
type note struct {
	queued queuedTimer
	at     []time.Time
}

func (n *note) expire() { n.at = append(n.at, time.Now()) }

func set(q *timerQueue, d time.Duration) *note {
	n := new(note)
	n.queued.of = n
	q.add(&n.queued, d)
	return n
}

func TestEveryTimerExpiresOnceWhenItIsDueUnlessItIsCancelled(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			start := time.Now()
			var q timerQueue
			due, cancelled := map[*note]time.Duration{}, map[*note]bool{}
			for range 500 {
				d := time.Duration(random.IntN(100)) * time.Second
				n := set(&q, d)
				due[n] = time.Since(start) + d
				if random.IntN(3) == 0 {
					time.Sleep(time.Duration(random.IntN(3)) * time.Second)
				}
				synctest.Wait()
				for other := range due {
					if random.IntN(4) == 0 && len(other.at) == 0 {
						q.cancel(&other.queued)
						cancelled[other] = true
					}
					break
				}
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			for n, d := range due {
				if cancelled[n] {
					require.Empty(t, n.at, seed)
				} else {
					require.Equal(t, []time.Time{start.Add(d)}, n.at, seed)
				}
			}
			require.Empty(t, q.heap)
			require.False(t, q.armed)
		})
	}
}

func TestATimerInTheFarFutureIsNotInThePast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q timerQueue
		set(&q, time.Second)
		time.Sleep(time.Minute)
		synctest.Wait()
		never := set(&q, math.MaxInt64)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Empty(t, never.at)
		q.cancel(&never.queued)
		require.False(t, q.armed)
	})
}
