package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSingletonsSeeTheMembersInTheOrderOfElection(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = func(c *Config) { c.Seeds, c.Roles = []string{"n2:7355"}, []string{"role of " + c.NodeID} }
		for _, name := range []string{"n2", "n1", "n3"} {
			f.start(name)
		}
		time.Sleep(time.Second)

		top := topologyOf(f.nodes["n1"].View())
		require.Equal(t, f.nodes["n1"].View().Self.ID(), top.Self)
		require.False(t, top.Down)
		require.Equal(t, "n2", top.Members[0].Name)
		require.Equal(t, "n1", top.Members[1].Name)
		n3 := top.Members[2]
		require.True(t, n3.Up)
		require.True(t, n3.Reachable)
		require.Equal(t, []string{"role of n3"}, n3.Roles)
		require.Empty(t, top.Gone)
	})
}

func TestSingletonsSeeWhoIsGoneAndMayStillRun(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.crash("n3")
		f.await(5*time.Second, "n1", "n2")
		f.start("n4")
		for _, name := range []string{"n1", "n4"} {
			gone := topologyOf(f.nodes[name].View()).Gone
			require.Len(t, gone, 1, "as %s sees it, which may have come later", name)
			require.Equal(t, "n3", gone[0].Name)
			require.WithinDuration(t, time.Now(), gone[0].Since, 2*time.Second)
		}
		for top := range show(f.nodes["n1"], f.nodes["n1"].cfg.topologyOf)(t.Context()) {
			require.Equal(t, 13*time.Second, top.Margin)
			break
		}
		f.start("n3")
		f.await(time.Second, "n1", "n2", "n3", "n4")
		require.Empty(t, topologyOf(f.nodes["n1"].View()).Gone, "another process lives at its address")
		require.Equal(t, "n3", topologyOf(f.nodes["n3"].View()).Members[3].Name, "as the youngest")
	})
}

func TestSingletonsSeeWhoIsTheOldest(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = func(c *Config) { c.Seeds, c.Leader = []string{"n3:7355"}, LowestAddress() }
		for _, name := range []string{"n3", "n2", "n1"} {
			f.start(name)
		}
		time.Sleep(time.Second)
		var ups []uint64
		for _, p := range topologyOf(f.nodes["n2"].View()).Members {
			ups = append(ups, p.UpNumber)
		}
		require.Equal(t, []uint64{3, 2, 1}, ups, "the order of election is another")
	})
}
