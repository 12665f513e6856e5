package clustertest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// One cluster, all nodes up, led by the node with the lowest address.
func TestManyNodesThatStartTogetherAreOneClusterInSeconds(t *testing.T) {
	for nodes, bound := range map[int]time.Duration{3: 3 * time.Second, 5: 3 * time.Second, 10: 3 * time.Second} {
		t.Run(fmt.Sprintf("%d nodes", nodes), func(t *testing.T) {
			scenario(t, 0, func(t *testing.T, c *clustertest.Cluster) {
				begin := time.Now()
				c.AddTogether(named(nodes)...)
				whole(t, c, bound-time.Since(begin), named(nodes)...)
				leader, _ := c.Node("n2").View().Leader()
				require.Equal(t, "n1", leader.Name)
			})
		})
	}
}

// No node forms a cluster before every seed has answered. Then there is one cluster in
// 3 s. Machines that are off do not answer; a refused connection would be an answer.
func TestNodesThatStartInAnyOrderFormOneCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 0, func(_ string, cfg *cluster.Config) {
			cfg.Seeds = []string{"n1:7355", "n2:7355", "n3:7355", "n4:7355", "n5:7355"}
		})
		for _, name := range named(5) {
			c.Network().Host(name)
			c.Network().PowerOff(name)
		}
		random := rand.New(rand.NewPCG(1, 0)) //nolint:gosec // it must repeat
		up := make(chan *cluster.Node, 5)
		for _, i := range random.Perm(5) {
			require.Empty(t, up, "nobody founds before all seeds have answered")
			cfg := c.Config(fmt.Sprintf("n%d", i+1))
			go func() {
				n, err := cluster.Start(context.Background(), cfg)
				if err != nil {
					n = nil
				}
				up <- n
			}()
			time.Sleep(time.Duration(random.Int64N(int64(15 * time.Second))))
		}
		time.Sleep(3 * time.Second)
		require.Len(t, up, 5)
		leaders := map[remote.NodeID]bool{}
		for range 5 {
			n := <-up
			require.NotNil(t, n)
			t.Cleanup(func() { _ = n.Shutdown(context.Background()) })
			leader, ok := n.View().Leader()
			require.True(t, ok)
			require.Len(t, n.View().Members, 5)
			leaders[leader.ID()] = true
		}
		require.Len(t, leaders, 1)
	})
}

// A node that joins while a member is unreachable waits until that member is reachable
// again or down, at most D + S + 1 s.
func TestANodeThatJoinsWhileAMemberIsUnreachableIsUpAfterwards(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		c.Crash("n3")
		begin := time.Now()
		time.Sleep(detection)
		joined := make(chan error, 1)
		cfg := c.Config("n4")
		go func() {
			n, err := cluster.Start(context.Background(), cfg)
			if err == nil {
				defer func() { _ = n.Shutdown(context.Background()) }()
			}
			joined <- err
		}()
		time.Sleep(2 * time.Second)
		m, ok := c.Node("n1").View().Member("n4")
		require.True(t, ok, "it is known")
		require.Equal(t, cluster.Joining, m.Status, "and not up before the cluster can agree")
		require.NoError(t, <-joined)
		require.Less(t, time.Since(begin), detection+stableAfter+time.Second)
	})
}

// A node of another cluster at the address of a former member is refused.
func TestANodeOfAnotherClusterAtAUsedAddressChangesNothing(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		c.Leave("n3")
		whole(t, c, time.Second, "n1", "n2")
		untouched(t, c, func() {
			cfg := c.Config("n3")
			cfg.Name, cfg.Seeds = "other", nil // it forms a cluster of its own, at the address of n3
			other, err := cluster.Start(t.Context(), cfg)
			require.NoError(t, err)
			time.Sleep(long(10 * time.Minute))
			require.Len(t, other.View().Members, 1)
			require.NoError(t, other.Shutdown(t.Context()))
			time.Sleep(long(time.Minute))
		})
	})
}

// Shutdown returns within 2 s, whatever the node is doing, and leaves nothing running.
func TestShutdownIsQuickInEveryState(t *testing.T) {
	quick := func(t *testing.T, n *cluster.Node) {
		t.Helper()
		begin := time.Now()
		require.NoError(t, n.Shutdown(t.Context()))
		require.LessOrEqual(t, time.Since(begin), 2*time.Second)
		version := n.View().Version
		time.Sleep(long(time.Minute))
		require.Equal(t, version, n.View().Version, "it has ended")
	}
	for name, disturb := range map[string]func(t *testing.T, c *clustertest.Cluster){
		"up":              func(*testing.T, *clustertest.Cluster) {},
		"just restarted":  func(_ *testing.T, c *clustertest.Cluster) { c.Restart("n3") },
		"cut off at once": func(_ *testing.T, c *clustertest.Cluster) { c.Partition([]string{"n3"}) },
		"cut off and down": func(_ *testing.T, c *clustertest.Cluster) {
			c.Partition([]string{"n3"})
			time.Sleep(long(time.Minute))
		},
		"rejoining": func(t *testing.T, c *clustertest.Cluster) {
			require.NoError(t, c.Node("n1").Down("n3"))
			time.Sleep(100 * time.Millisecond)
		},
		"among the dead": func(_ *testing.T, c *clustertest.Cluster) {
			c.Crash("n1")
			c.Crash("n2")
		},
		"leaving": func(_ *testing.T, c *clustertest.Cluster) {
			n := c.Node("n3")
			go func() { _ = n.Leave(context.Background()) }()
			time.Sleep(10 * time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
				disturb(t, c)
				quick(t, c.Node("n3"))
			})
		})
	}
	t.Run("seeking", func(t *testing.T) {
		scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
			c.Partition([]string{"n4"})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan time.Time, 1)
			cfg := c.Config("n4")
			go func() {
				_, _ = cluster.Start(ctx, cfg)
				ended <- time.Now()
			}()
			time.Sleep(7 * time.Second)
			begin := time.Now()
			cancel()
			require.LessOrEqual(t, (<-ended).Sub(begin), 2*time.Second)
		})
	})
}
