//go:build !quick

package clustertest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// An actor with a full mailbox, for which senders wait, delays neither the messages of the senders'
// node to other actors nor the departure of either node.
func TestAFullMailboxHoldsUpNeitherOthersNorALeave(t *testing.T) {
	for _, leaves := range []string{"n1", "n2"} {
		t.Run(leaves+" leaves", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clustertest.Start(t, 3, clustertest.WithoutEncoding())
				slow := actor.Spawn(c.Node("n1"), behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
					time.Sleep(time.Second)
					return behaviors.Same
				}), "slow", actor.Bounded(1).Block(time.Hour))
				healthy := actor.Spawn(c.Node("n1"), weighs(), "healthy")
				far := actor.Resolve[int](c.Node("n2").System, slow.String())
				for n := range 1000 {
					far.Tell(n)
				}
				time.Sleep(time.Second)
				began := time.Now()
				same := actor.Resolve[bulky](c.Node("n2").System, healthy.String())
				require.Equal(t, 1, testkit.Ask(t.Context(), t, same, func(to actor.ActorRef[int]) bulky { return bulky{"x", to} }))
				require.Less(t, time.Since(began), 100*time.Millisecond)
				began = time.Now()
				c.Leave(leaves)
				require.Less(t, time.Since(began), 5*time.Second)
			})
		})
	}
}
