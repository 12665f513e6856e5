//go:build !quick

package clustertest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// splitLease is longer than downing.DefaultReleaseAfter, as LeaseMajority requires.
const splitLease = time.Minute

// withLeases starts two nodes, each with its own end of a lease in store.
func withLeases(t *testing.T, store *lease.Memory) (*clustertest.Cluster, map[string]lease.Lease) {
	t.Helper()
	ends := map[string]lease.Lease{}
	c := clustertest.Start(t, 2, func(name string, cfg *cluster.Config) {
		ends[name] = store.Lease("split", name, splitLease)
		cfg.Downing = downing.LeaseMajority{Lease: ends[name]}
	})
	c.AwaitQuiet()
	return c, ends
}

// Without a lease of its own, the strategy has the one that the node is configured with.
func TestALeaseOfTheConfigurationDecidesASplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, owners := lease.NewMemory(), make(chan string, 2)
		c := clustertest.Start(t, 2, func(_ string, cfg *cluster.Config) {
			cfg.Downing = downing.LeaseMajority{}
			cfg.Leases = func(name, owner string) (lease.Lease, error) {
				if name == "test-downing" {
					owners <- owner
				}
				return lease.New(store, name, owner, lease.Settings{TTL: splitLease})
			}
		})
		c.AwaitQuiet()
		require.ElementsMatch(t, []string{c.Node("n1").Address(), c.Node("n2").Address()}, []string{<-owners, <-owners})
		c.Partition([]string{"n1"}, []string{"n2"})
		time.Sleep(15 * time.Second)
		winner, _ := requireWinner(t, c)
		require.Contains(t, store.Inspect("test-downing").Holder, c.Node(winner).Address())
		time.Sleep(30 * time.Second)
		require.Empty(t, store.Inspect("test-downing").Holder, "it was given back once everybody had asked")
		requireWinner(t, c)
	})
}

// requireWinner returns the name of the one node that is a member of a cluster, and of the
// other one.
func requireWinner(t *testing.T, c *clustertest.Cluster) (winner, loser string) {
	t.Helper()
	for _, n := range []string{"n1", "n2"} {
		if len(c.Node(n).View().Members) > 0 {
			require.Empty(t, winner, "both go on")
			winner = n
		} else {
			loser = n
		}
	}
	require.NotEmpty(t, winner, "nobody goes on")
	return winner, loser
}

func TestALeaseOfPackageLeaseDecidesASplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, ends := withLeases(t, lease.NewMemory())
		c.Partition([]string{"n1"}, []string{"n2"})
		time.Sleep(15 * time.Second)
		winner, loser := requireWinner(t, c)
		require.True(t, ends[winner].Valid())
		require.False(t, ends[loser].Valid())
		require.EqualValues(t, 1, ends[winner].Token())

		time.Sleep(30 * time.Second)
		held, err := ends[loser].Acquire(t.Context())
		require.NoError(t, err)
		require.True(t, held, "it was given back once everybody had asked")
		require.False(t, ends[winner].Valid())
		require.NoError(t, ends[loser].Release(t.Context()))
		requireWinner(t, c)
	})
}
