package actor

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// pooled runs f with a system whose asks share a waker. ask asks an actor that replies after some
// time.
func pooled(t *testing.T, f func(t *testing.T, ask func(after, timeout time.Duration) error)) {
	t.Helper()
	frugally(t, func(t *testing.T, s *System) {
		t.Helper()
		s.wakers.virtual = false
		to := atRest(s)
		f(t, func(after, timeout time.Duration) error {
			_, err := AskTimeout(t.Context(), to, timeout, func(reply ActorRef[int]) func() {
				return func() { reply.TellAfter(after, 1) }
			})
			return err
		})
	})
}

// A waker that has been used goes to the next ask, with its timer.
func TestADeadlineOfAnEarlierAskDoesNotReachALaterOne(t *testing.T) {
	pooled(t, func(t *testing.T, ask func(after, timeout time.Duration) error) {
		require.NoError(t, ask(time.Millisecond, time.Second))
		require.NoError(t, ask(time.Minute, time.Hour), "the timer goes off after a second")
		require.NoError(t, ask(time.Millisecond, time.Second))
		time.Sleep(time.Minute) // it goes off, and nobody receives
		require.NoError(t, ask(time.Minute, time.Hour))
	})
}

func TestATimerThatGoesOffTooLateForAnAskIsSetAgain(t *testing.T) {
	pooled(t, func(t *testing.T, ask func(after, timeout time.Duration) error) {
		require.NoError(t, ask(time.Millisecond, time.Hour))
		for _, timeout := range []time.Duration{time.Minute, time.Second, time.Hour} {
			begun := time.Now()
			require.ErrorIs(t, ask(2*timeout, timeout), context.DeadlineExceeded)
			require.Equal(t, timeout, time.Since(begun))
		}
	})
}

func TestAsksInARowDoNotSetATimerEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pool wakers
		w := pool.get()
		w.wakeAt(time.Since(epoch), time.Since(epoch)+10*time.Second)
		at := w.at
		for range 100 {
			time.Sleep(time.Millisecond)
			w.wakeAt(time.Since(epoch), time.Since(epoch)+10*time.Second)
		}
		require.Equal(t, at, w.at)
		<-w.early
		require.Equal(t, at, time.Since(epoch))
	})
}

// The clock of a bubble is before the epoch.
func TestTheEndOfTheLongestAskIsAhead(t *testing.T) {
	for _, now := range []time.Duration{-ages, 0, time.Hour, ages} {
		end := endOf(t.Context(), now, math.MaxInt64)
		require.Greater(t, end, now)
		require.Positive(t, end-now)
	}
}
