package eventsourced_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/eventsourced"
)

// A test of a behavior: what a command stores, what becomes of the state, and that this
// survives the actor.
func ExampleKit() {
	_ = func(t *testing.T) {
		system := testkit.NewSystem(t, testkit.WithoutEncoding()) // commands of counters stay on their node
		k := eventsourced.New(t, system, counter(options{}))
		outcome := k.Run(add{n: 3})
		require.Equal(t, []any{added{3}}, outcome.Events)
		require.Equal(t, 3, outcome.State)
		require.Equal(t, 3, k.Restart())

		k.RejectNext(1)
		require.Error(t, k.Run(add{n: 4}).Err)
	}
}

// A behavior is tested as the program starts it, in what it is wrapped in.
func ExampleOf() {
	_ = func(t *testing.T) {
		k := eventsourced.Of[any, int](t, testkit.NewSystem(t, testkit.WithoutEncoding()), func(j persistence.Journal) actor.Behavior[add] {
			return behaviors.Supervise(wrapped("sum", j), actor.Strategy{})
		})
		require.Equal(t, 3, k.Run(add{n: 3}).State)
	}
}
