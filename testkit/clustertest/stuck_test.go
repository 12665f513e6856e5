//go:build !quick

package clustertest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A node leaves while its instance is in a handler that never returns. The next instance starts
// after StopTimeout and the margin, not when the node has given up leaving.
func TestASingletonWhoseInstanceNeverEndsMovesFromANodeThatLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		never := make(chan struct{})
		hangs := func(n *cluster.Node) func() actor.Behavior[whereabouts] {
			return func() actor.Behavior[whereabouts] {
				return behaviors.Receive(func(_ *actor.Context[whereabouts], msg whereabouts) actor.Behavior[whereabouts] {
					if n.View().Self.Name == "n1" {
						<-never
					}
					msg.ReplyTo.Tell(n.View().Self.Name)
					return behaviors.Same
				})
			}
		}
		var ref actor.ActorRef[whereabouts]
		for _, n := range c.Nodes() {
			ref = actor.Spawn(n, behaviors.Singleton(hangs(n)), "one")
		}
		time.Sleep(time.Second)
		where := func(within time.Duration) (string, error) {
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			return actor.Ask(ctx, ref, func(to actor.ActorRef[string]) whereabouts { return whereabouts{to} })
		}
		_, err := where(time.Second)
		require.Error(t, err)
		left := make(chan error)
		go func() { left <- c.Node("n1").Leave(context.Background()) }()
		began := time.Now()
		time.Sleep(singleton.DefaultStopTimeout + time.Second)
		status, _ := singleton.StatusOf(c.Node("n2").System, "one")
		require.Contains(t, status.Why, "and does not end; it is given up at")
		at, err := where(time.Minute)
		require.NoError(t, err)
		require.Equal(t, "n2", at)
		require.Less(t, time.Since(began), singleton.DefaultStopTimeout+13*time.Second+2*time.Second)
		close(never)
		require.NoError(t, <-left)
	})
}
