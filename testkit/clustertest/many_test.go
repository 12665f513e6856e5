//go:build !quick

package clustertest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/singletons"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

type whereabouts struct{ ReplyTo actor.ActorRef[string] }

func init() { actor.RegisterType[whereabouts]("clustertest.whereabouts") }

// The cost of a singleton must not grow with the number of singletons. In make long there
// are ten times as many as in make verify, and the test takes ten times as long, and not a hundred
// times.
func TestManySingletonsAnswerAndFailOver(t *testing.T) {
	many := effort.Of(1000, 1000, 10_000)
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		refs := map[string][]actor.ActorRef[whereabouts]{}
		for _, n := range c.Nodes() {
			for i := range many {
				refs[n.View().Self.Name] = append(refs[n.View().Self.Name], actor.Spawn(n, behaviors.Singleton(teller(n)), fmt.Sprintf("many-%d", i)))
			}
		}
		requireAllOn(t, "n1", refs["n3"], 2*time.Second)
		c.Crash("n1")
		requireAllOn(t, "n2", refs["n3"], 20*time.Second)
		c.Leave("n2")
		requireAllOn(t, "n3", refs["n3"], 2*time.Second)
		known := singletons.AllKnown(c.Node("n3").System)
		require.Len(t, known, many)
		require.GreaterOrEqual(t, known[0].Record.Term, uint64(3))
	})
}

// teller answers with the name of its node.
func teller(n *cluster.Node) func() actor.Behavior[whereabouts] {
	return func() actor.Behavior[whereabouts] {
		return behaviors.Receive(func(_ *actor.Context[whereabouts], msg whereabouts) actor.Behavior[whereabouts] {
			msg.ReplyTo.Tell(n.View().Self.Name)
			return behaviors.Same
		})
	}
}

// requireAllOn asks all singletons until each answers from a node.
func requireAllOn(t *testing.T, node string, refs []actor.ActorRef[whereabouts], within time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	var all sync.WaitGroup
	errs := make([]error, len(refs))
	for i, ref := range refs {
		all.Go(func() {
			for at := ""; at != node && errs[i] == nil; {
				once, end := context.WithTimeout(ctx, time.Second)
				at, _ = actor.Ask(once, ref, func(to actor.ActorRef[string]) whereabouts { return whereabouts{to} })
				end()
				errs[i] = ctx.Err()
			}
		})
	}
	all.Wait()
	for i, err := range errs {
		require.NoError(t, err, "singleton %d does not run on %s", i, node)
	}
}
