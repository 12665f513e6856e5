package telemetry_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

type order string

// kindOf returns the counts of one kind.
func kindOf(t *testing.T, s *actor.System, name string) telemetry.Kind {
	t.Helper()
	all := telemetry.Kinds(s)
	i := slices.IndexFunc(all, func(k telemetry.Kind) bool { return k.Name == name })
	require.GreaterOrEqual(t, i, 0, "%v", all)
	return all[i]
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
		require.Equal(t, telemetry.Kind{
			Name: "telemetry_test.order", Actors: 18, Started: 20, Stopped: 2, Failures: 1, Restarts: 1, Messages: 20_003,
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
		require.Equal(t, telemetry.Kind{Name: "till", Actors: 1, Started: 1, Messages: 1}, kindOf(t, s, "till"))
		require.Equal(t, telemetry.Kind{Name: "telemetry_test.order", Actors: 1, Started: 1}, kindOf(t, s, "telemetry_test.order"))
		require.Len(t, telemetry.Kinds(other), 1, "each system counts its own")
	})
}

func TestFailuresOfStartsAndPanicsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		actor.Spawn(s, behaviors.Setup(func(*actor.Context[order]) actor.Behavior[order] { panic("no start") }), "")
		actor.Spawn(s, behaviors.Receive(func(*actor.Context[order], order) actor.Behavior[order] { panic("no message") }), "").Tell("one")
		synctest.Wait()
		require.Equal(t, telemetry.Kind{Name: "telemetry_test.order", Started: 2, Stopped: 2, Failures: 2, Messages: 1}, kindOf(t, s, "telemetry_test.order"))
	})
}
