package telemetry_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/telemetrytest"
	"github.com/understudy-go/understudy/testkit"
)

type order string

// kind has the counts of one kind.
type kind struct{ Actors, Started, Stopped, Failures, Restarts, Messages int }

// kindOf returns the counts of one kind.
func kindOf(t *testing.T, s *actor.System, name string) kind {
	t.Helper()
	value := func(family string) int { return telemetrytest.Value(t, s, "understudy_"+family, name) }
	return kind{
		value("actors"), value("actors_started_total"), value("actors_stopped_total"),
		value("actor_failures_total"), value("actor_restarts_total"), value("messages_processed_total"),
	}
}

func TestActorsAreCountedByTheTypeOfTheirMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		clerk := behaviors.Receive(func(ctx *actor.Context[order], o order) actor.Behavior[order] {
			switch o {
			case "bad":
				return ctx.Fail(errors.New("told to"))
			case "last":
				return behaviors.Stopped[order]
			}
			return behaviors.Same
		})
		var refs []actor.ActorRef[order]
		for range 20 { // more than there are shards
			refs = append(refs, actor.Spawn(s, behaviors.Supervise(clerk, actor.Strategy{}), ""))
		}
		for _, ref := range refs {
			for n := range 1000 {
				ref.Tell(order(fmt.Sprint(n)))
			}
		}
		refs[0].Tell("bad")
		refs[1].Tell("last")
		refs[2].Tell("last")
		synctest.Wait()
		require.Equal(t, kind{
			Actors: 18, Started: 20, Stopped: 2, Failures: 1, Restarts: 1, Messages: 20_003,
		}, kindOf(t, s, "telemetry_test.order"))
	})
}

func TestAnActorCanBeGivenAKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, other := testkit.NewSystem(t, testkit.WithoutEncoding()), testkit.NewSystem(t, testkit.WithoutEncoding())
		ignore := func() actor.Behavior[order] { return behaviors.Ignore }
		actor.Spawn(s, ignore(), "", actor.WithKind("till")).Tell("one")
		actor.Spawn(s, ignore(), "", actor.WithKind(""))
		actor.Spawn(other, ignore(), "")
		synctest.Wait()
		require.Equal(t, kind{Actors: 1, Started: 1, Messages: 1}, kindOf(t, s, "till"))
		require.Equal(t, kind{Actors: 1, Started: 1}, kindOf(t, s, "telemetry_test.order"))
		require.False(t, telemetrytest.Has(other, "understudy_actors", "till"), "each system counts its own")
		require.Equal(t, kind{Actors: 1, Started: 1}, kindOf(t, other, "telemetry_test.order"))
	})
}

func TestFailuresOfStartsAndPanicsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		actor.Spawn(s, behaviors.Setup(func(*actor.Context[order]) actor.Behavior[order] { panic("no start") }), "")
		actor.Spawn(s, behaviors.Receive(func(*actor.Context[order], order) actor.Behavior[order] { panic("no message") }), "").Tell("one")
		synctest.Wait()
		require.Equal(t, kind{Started: 2, Stopped: 2, Failures: 2, Messages: 1}, kindOf(t, s, "telemetry_test.order"))
	})
}
