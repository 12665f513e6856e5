//go:build !quick

package clustertest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// lostMajority gives a test the rest of five nodes with the seeds n1 to n3. The majority rule has
// downed n2 and n3, which wait for the others; the others never come back.
func lostMajority(t *testing.T, test func(t *testing.T, c *clustertest.Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 5, func(_ string, cfg *cluster.Config) {
			cfg.Seeds = []string{"n1:7355", "n2:7355", "n3:7355"}
		})
		c.Crash("n1")
		c.Crash("n4")
		c.Kill("n5")
		time.Sleep(time.Hour)
		for _, n := range c.Nodes() {
			require.Zero(t, n.View().Self.Status, "it looks for a cluster")
			require.Contains(t, n.View().Waiting(), "if n1:7355, n4:7355 will never come back: restart one of the other seeds")
			require.Contains(t, n.View().Waiting(), "Node.FoundWithout")
		}
		test(t, c)
	})
}

func TestWhatIsLeftOfALostMajorityFoundsAClusterWhenAnOperatorSaysSoOnOneNode(t *testing.T) {
	lostMajority(t, func(t *testing.T, c *clustertest.Cluster) {
		n3 := c.Node("n3")
		require.ErrorContains(t, n3.FoundWithout("n1:7355", "n2:7355"), "the node at n2:7355 has just answered; stop it first, or leave it out")
		require.ErrorContains(t, n3.FoundWithout("n9:7355"), `does not wait for "n9:7355"; name some of n1:7355`)
		require.ErrorContains(t, n3.FoundWithout("n3:7355"), "is this node")
		require.ErrorContains(t, n3.FoundWithout(), "no address")
		require.NoError(t, n3.FoundWithout("n1:7355"))
		time.Sleep(time.Minute)
		require.Zero(t, n3.View().Self.Status, "n4 may be in a cluster")
		require.Contains(t, c.Node("n2").View().Waiting(), "if n4:7355 will never come back")
		require.NoError(t, n3.FoundWithout("n4:7355"))
		whole(t, c, 10*time.Second, "n2", "n3")
		require.ErrorIs(t, n3.FoundWithout("n1:7355"), cluster.ErrNotJoining)

		c.Add("n1")
		c.Add("n4")
		whole(t, c, 10*time.Second, "n1", "n2", "n3", "n4")
		c.Leave("n3")
		require.ErrorIs(t, n3.FoundWithout("n1:7355"), cluster.ErrNotJoining)
	})
}

func TestWhatIsLeftOfALostMajorityFoundsAClusterWhenOneSeedIsRestartedWithoutTheOthers(t *testing.T) {
	lostMajority(t, func(t *testing.T, c *clustertest.Cluster) {
		c.Restart("n3", func(_ string, cfg *cluster.Config) { cfg.Seeds = []string{"n3:7355", "n2:7355"} })
		whole(t, c, 10*time.Second, "n2", "n3")
		c.Add("n1")
		whole(t, c, 10*time.Second, "n1", "n2", "n3")
	})
}

func TestStartSaysWhatAnOperatorCanDoWhenTheFirstSeedIsLost(t *testing.T) {
	lostMajority(t, func(t *testing.T, c *clustertest.Cluster) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := cluster.Start(ctx, c.Config("n6"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "there is no answer of n1:7355; if n1:7355 will never come back: restart one of the other seeds")
	})
}
