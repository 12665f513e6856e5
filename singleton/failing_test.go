package singleton_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/history"
	"github.com/understudy-go/understudy/singleton"
)

func TestStatusTellsTheLastErrorAndACrashLoop(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		var broken atomic.Bool
		broken.Store(true)
		onAll(c, func() actor.Behavior[msg] {
			if broken.Load() {
				panic("no such table")
			}
			return parrot()
		}, singleton.RestartBackoff(actor.Backoff{Min: time.Second, Max: time.Second, Reset: 10 * time.Second}))
		a := c.nodes["a"]
		settle()
		s := a.status("one")
		require.ErrorContains(t, s.LastError, "no such table")
		require.WithinDuration(t, time.Now(), s.FailedAt, time.Second)
		require.Equal(t, 1, s.RestartsInARow)
		require.False(t, s.CrashLoop(), "it may be an accident")
		require.Contains(t, s.Why, "no such table")

		time.Sleep(5 * time.Second)
		s = a.status("one")
		require.True(t, s.CrashLoop())
		require.EqualValues(t, s.RestartsInARow, s.Failures)
		require.Contains(t, s.Why, "restart 6 in a row")
		require.False(t, c.nodes["b"].status("one").CrashLoop())

		broken.Store(false)
		time.Sleep(2 * time.Second)
		require.True(t, a.status("one").CrashLoop(), "it has not run for long")
		require.Empty(t, a.status("one").Why)
		time.Sleep(10 * time.Second)
		s = a.status("one")
		require.False(t, s.CrashLoop())
		require.Zero(t, s.RestartsInARow)
		require.Equal(t, []singleton.Status{s}, singleton.Statuses(a.System))
		require.ErrorContains(t, s.LastError, "no such table", "it remains the last")

		ring, _ := extension.Get[*history.Ring](a.System)
		events := slices.DeleteFunc(ring.Events("a"), func(e history.Event) bool { return e.Kind == "singleton moved" }) // as managers register
		require.Len(t, events, 2, "six failures are one entry")
		require.Equal(t, []string{"singleton started", "singleton failed"}, []string{events[0].Kind, events[1].Kind})
		require.Equal(t, "one", events[1].Subject)
		require.Contains(t, events[1].Reason, "no such table")
		require.Equal(t, s.Failures, events[1].Count)
	})
}
