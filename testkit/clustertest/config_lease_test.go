//go:build !quick

package clustertest_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// Akka: one setting, use-lease, gives every singleton a lease. Its name has the names of the system
// and of the singleton, and its owner is the address of the node.
func TestOneSettingGivesEverySingletonOfANodeALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lease.NewMemory()
		c := clustertest.Start(t, 3, func(_ string, cfg *cluster.Config) {
			cfg.Leases = func(name, owner string) (lease.Lease, error) {
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
	})
}

func TestTheErrorOfTheConfiguredLeaseIsShownUntilItCanBeCreated(t *testing.T) {
	for name, broken := range map[string]func() (lease.Lease, error){
		"an error": func() (lease.Lease, error) { return nil, errors.New("no store today") },
		"nil":      func() (lease.Lease, error) { return nil, nil }, //nolint:nilnil // the mistake that is tested
		"a panic":  func() (lease.Lease, error) { panic("no store today") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var works atomic.Bool
				store := lease.NewMemory()
				c := clustertest.Start(t, 2, func(_ string, cfg *cluster.Config) {
					cfg.Leases = func(name, owner string) (lease.Lease, error) {
						if !works.Load() {
							return broken()
						}
						return lease.New(store, name, owner, lease.Settings{})
					}
				})
				n1, n2 := c.Node("n1"), c.Node("n2")
				counter := actor.Spawn(n1, behaviors.Singleton(counting[command](0)), "counter")
				actor.Spawn(n2, behaviors.Singleton(counting[command](0)), "counter")
				ask := func(timeout time.Duration) (int, error) {
					return actor.AskTimeout(t.Context(), counter, timeout, func(replyTo actor.ActorRef[int]) command { return increment{replyTo} })
				}
				_, err := ask(3 * time.Second)
				require.ErrorIs(t, err, singleton.ErrUnavailable)
				require.ErrorContains(t, err, "create the lease test-singleton-counter: ")
				status, managed := singleton.StatusOf(n1.System, "counter")
				require.True(t, managed)
				require.Equal(t, singleton.Acquiring, status.Phase)
				require.ErrorContains(t, status.Obstacle, "create the lease test-singleton-counter: ")

				works.Store(true)
				n, err := ask(10 * time.Second)
				require.NoError(t, err)
				require.Equal(t, 1, n)
				status, _ = singleton.StatusOf(n1.System, "counter")
				require.True(t, status.LeaseHeld)
				require.Equal(t, n1.Name()+"-singleton-counter of "+n1.Address(), status.Lease)
				require.NoError(t, n1.Leave(t.Context())) // releases it
				time.Sleep(10 * time.Second)
				status, _ = singleton.StatusOf(n2.System, "counter")
				require.True(t, status.LeaseHeld)
			})
		})
	}
}
