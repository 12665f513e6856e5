package clustertest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// Akka: one setting, use-lease, gives every singleton a lease. Its name has the names of the system
// and of the singleton, and its owner is the address of the node.
func TestOneSettingGivesEverySingletonOfANodeALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lease.NewMemory()
		c := clustertest.Start(t, 3, func(_ string, cfg *cluster.Config) {
			cfg.Lease = func(name, owner string) (lease.Lease, error) {
				if name == cfg.Name+"-singleton-broken" {
					return nil, errors.New("no lease today")
				}
				return lease.New(store, name, owner, lease.Settings{})
			}
		})
		for _, n := range c.Nodes() {
			own, err := lease.New(store, "my-pingpong-singleton-lease", n.Address(), lease.Settings{})
			require.NoError(t, err)
			actor.Spawn(n, behaviors.Singleton(clerk), "counter")
			actor.Spawn(n, behaviors.Singleton(clerk, singleton.WithLease(own)), "ping-pong")
		}
		time.Sleep(time.Second)
		n1, n2 := c.Node("n1"), c.Node("n2")
		status := func(n *cluster.Node, name string) singleton.Status {
			s, ok := singleton.StatusOf(n.System, name)
			require.True(t, ok)
			return s
		}
		require.Equal(t, n1.Name()+"-singleton-counter of "+n1.Address(), status(n1, "counter").Lease)
		require.True(t, status(n1, "counter").LeaseHeld)
		require.Equal(t, n2.Name()+"-singleton-counter of "+n2.Address(), status(n2, "counter").Lease)
		require.False(t, status(n2, "counter").LeaseHeld)
		require.Equal(t, "my-pingpong-singleton-lease of "+n1.Address(), status(n1, "ping-pong").Lease, "WithLease takes precedence")

		c.Crash("n1")
		time.Sleep(25 * time.Second)
		require.True(t, status(n2, "counter").LeaseHeld)

		watcher := testkit.NewProbe[int](t, n2.System)
		broken := actor.Spawn(n2, behaviors.Singleton(clerk), "broken")
		watcher.ExpectTerminated(broken)
		_, there := singleton.StatusOf(n2.System, "broken")
		require.False(t, there)
	})
}
