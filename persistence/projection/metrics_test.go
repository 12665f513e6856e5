package projection_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/telemetrytest"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
	"github.com/understudy-go/understudy/testkit"
)

func TestTheLagOfAProjectionIsZeroUnlessEventsAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s := journal.NewMemory(), newSum()
		sys := quiet(t)
		w := newWriter(t, j, "a")
		s.fail = poison
		p := projection.New("sum", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, s.handle))
		ref := actor.Spawn(sys, p.Behavior(), "sum")
		value := func(name string) int {
			t.Helper()
			return telemetrytest.Value(t, sys, "understudy_projection_"+name, "sum")
		}
		w.append(added{1}, added{2})
		catchUp(t, ref)
		time.Sleep(time.Hour)
		require.Zero(t, value("lag_seconds"), "there is nothing to do")
		require.Equal(t, 2, value("events_total"))
		require.Zero(t, value("failures_total"))

		w.append(added{4})
		synctest.Wait()
		time.Sleep(time.Minute)
		w.append(poisoned{})
		time.Sleep(time.Hour)
		require.Equal(t, 3600, value("lag_seconds"), "the event that fails is the oldest that is known")
		w.append(added{8})
		time.Sleep(time.Hour)
		require.Equal(t, 2*3600, value("lag_seconds"))
		require.Equal(t, 1, value("stalled"))
		shown, problems := shown(t, sys)
		require.Equal(t, []string{"The projection sum fails: " + shown[0].Failure + "."}, problems)
		require.Equal(t, "sum", shown[0].Name)
		require.InDelta(t, 2*3600, shown[0].LagSeconds, 1)
		require.Equal(t, 1, shown[0].Stalled)
		require.NotEmpty(t, shown[0].Failure)
		require.Greater(t, value("failures_total"), 100)
		require.Equal(t, 3, value("events_total"))

		s.failWith(nil)
		time.Sleep(time.Minute)
		require.Zero(t, value("lag_seconds"))
		require.Zero(t, value("stalled"))
		require.Equal(t, 5, value("events_total"))
		telemetrytest.Check(t, sys)
	})
}

// A projectionShown is what the status page shows of a projection.
type projectionShown struct {
	Name            string
	LagSeconds      float64
	Events, Skipped uint64
	Failures        uint64
	Stalled, Held   int
	Failure         string
}

func shown(t *testing.T, s *actor.System) (_ []projectionShown, problems []string) {
	t.Helper()
	details, found := telemetrytest.Details[struct{ Projections []projectionShown }](t, s)
	for _, p := range found {
		problems = append(problems, p.Text)
	}
	return details.Projections, problems
}

func TestEventsThatAProjectionHoldsBackOrSkipsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, sys := journal.NewMemory(), newSum(), quiet(t)
		newWriter(t, j, "a").append(nil, added{1})
		newWriter(t, j, "b").append(added{1})
		handler := func() projection.Handler[event] {
			return projection.AtLeastOnce(&projection.MemoryOffsets{}, s.handle)
		}
		holds := projection.New("holds", j, journal.Query{}, handler())
		catchUp(t, actor.Spawn(sys, holds.Behavior(), ""))
		skips := projection.New("skips", j, journal.Query{}, handler(), projection.SkipOthers())
		catchUp(t, actor.Spawn(sys, skips.Behavior(), ""))

		require.Equal(t, 1, telemetrytest.Value(t, sys, "understudy_projection_held_ids", "holds"))
		require.Zero(t, telemetrytest.Value(t, sys, "understudy_projection_skipped_events_total", "holds"))
		require.Zero(t, telemetrytest.Value(t, sys, "understudy_projection_held_ids", "skips"))
		shown, problems := shown(t, sys)
		require.Equal(t, 1, shown[0].Held)
		require.NotEmpty(t, shown[0].Failure)
		require.Equal(t, []string{"The projection holds holds events back: " + shown[0].Failure + "."}, problems)
		require.Equal(t, projectionShown{Name: "skips", Events: 2, Skipped: 1}, shown[1])
		require.Equal(t, 1, telemetrytest.Value(t, sys, "understudy_projection_skipped_events_total", "skips"))
	})
}

func TestAProjectionThatHasEndedHasNoSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys := testkit.NewSystem(t, testkit.WithoutEncoding())
		p := projection.New("sum", journal.NewMemory(), journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, newSum().handle))
		parent := actor.Spawn(sys, func(ctx *actor.Context[string], next *actor.Next[string]) {
			actor.Spawn(ctx, p.Behavior(), "sum")
			next.OnMessage = func(*actor.Context[string], string) actor.Behavior[string] {
				return func(_ *actor.Context[string], next *actor.Next[string]) { next.Stop() }
			}
		}, "")
		synctest.Wait()
		require.True(t, telemetrytest.Has(sys, "understudy_projection_events_total", "sum"))
		parent.Tell("stop")
		synctest.Wait()
		require.False(t, telemetrytest.Has(sys, "understudy_projection_events_total", "sum"))
		none, _ := shown(t, sys)
		require.Empty(t, none)
	})
}
