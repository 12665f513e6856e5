//go:build !quick

package clustertest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// ids returns the identities of all nodes by name.
func ids(c *clustertest.Cluster) map[string]remote.NodeID {
	all := map[string]remote.NodeID{}
	for _, n := range c.Nodes() {
		self := n.View().Self
		all[self.Name] = self.ID()
	}
	return all
}

// cutLink cuts one link in both directions.
func cutLink(c *clustertest.Cluster, a, b string) {
	c.OneWay(a, b)
	c.OneWay(b, a)
}

// Members n1 and n2 cannot reach each other, and n3 reaches both: n3 continues, and the two go
// down. They come back, and stay when the link works again.
func TestOfIndirectlyConnectedMembersBothGo(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		before := ids(c)
		cutLink(c, "n1", "n2")
		w, stop := watch(c.Node("n3"), named(3)...)
		time.Sleep(detection + stableAfter + 2*time.Second)
		stop()
		require.Positive(t, w.removed["n1"])
		require.Positive(t, w.removed["n2"])
		require.Zero(t, w.removed["n3"])
		require.Equal(t, before["n3"], c.Node("n3").View().Self.ID())
		time.Sleep(time.Minute)
		require.Equal(t, before["n3"], c.Node("n3").View().Self.ID(), "it stays, however often the two come back")
		c.Heal()
		whole(t, c, 20*time.Second, named(3)...)
		require.Equal(t, before["n3"], c.Node("n3").View().Self.ID())
	})
}

// The same, while another member crashes: the larger reachable side continues, without the two.
func TestWithIndirectlyConnectedMembersTheLargerSideSurvivesACrash(t *testing.T) {
	for _, crashed := range [][]string{{"n5"}, {"n4", "n5"}} {
		scenario(t, 5, func(t *testing.T, c *clustertest.Cluster) {
			before := ids(c)
			cutLink(c, "n1", "n2")
			for _, name := range crashed {
				c.Crash(name)
			}
			w, stop := watch(c.Node("n3"), named(5)...)
			time.Sleep(detection + stableAfter + 2*time.Second)
			stop()
			for _, name := range append([]string{"n1", "n2"}, crashed...) {
				require.Positive(t, w.removed[name], name)
			}
			require.Zero(t, w.removed["n3"])
			c.Heal()
			whole(t, c, 30*time.Second, named(5-len(crashed))...)
			require.Equal(t, before["n3"], c.Node("n3").View().Self.ID())
		})
	}
}
