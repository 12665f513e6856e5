package actor

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A waker that has been used goes to the next ask. The earlier timeout must not end the next ask.
func TestADeadlineOfAnEarlierAskDoesNotReachALaterOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pool wakers
		w := pool.get()
		w.deadline(t.Context(), time.Second)
		time.Sleep(time.Minute) // it fires, and nobody receives
		pool.put(w)
		start := time.Now()
		at := <-w.deadline(t.Context(), time.Hour)
		require.Equal(t, time.Hour, at.Sub(start))
	})
}
