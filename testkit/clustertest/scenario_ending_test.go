package clustertest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// The nodes leave one after the other, each within a second.
func TestTheLastOneToLeaveLeavesTheClusterEmpty(t *testing.T) {
	scenario(t, 5, func(t *testing.T, c *clustertest.Cluster) {
		for left := 5; left > 1; left-- {
			n, begin := c.Nodes()[0], time.Now()
			c.Leave(n.View().Self.Name)
			require.LessOrEqual(t, time.Since(begin), 2*time.Second)
			require.Equal(t, cluster.Removed, n.View().Self.Status)
			whole(t, c, spreading, named(5)[6-left:]...)
		}
		last, begin := c.Node("n5"), time.Now()
		c.Leave("n5")
		require.LessOrEqual(t, time.Since(begin), 2*time.Second)
		require.Equal(t, cluster.Removed, last.View().Self.Status)
	})
}

// Only the node that restarts is ever unreachable for long or downed.
func TestARollingRestartKeepsTheOthersTogether(t *testing.T) {
	for name, restart := range map[string]func(c *clustertest.Cluster, name string){
		"by leaving": func(c *clustertest.Cluster, name string) {
			c.Leave(name)
			c.Add(name)
		},
		"by crashing": func(c *clustertest.Cluster, name string) { c.Restart(name) },
	} {
		t.Run(name, func(t *testing.T) {
			scenario(t, 5, func(t *testing.T, c *clustertest.Cluster) {
				for i, name := range named(5) {
					others := named(5)
					others = append(others[:i], others[i+1:]...)
					w, stop := watch(c.Node(others[0]), others...)
					begin := time.Now()
					restart(c, name)
					whole(t, c, 3*time.Second, named(5)...)
					require.Less(t, time.Since(begin), 4*time.Second)
					stop()
					require.Empty(t, w.removed, "while %s restarts", name)
					time.Sleep(10 * time.Second)
				}
				for i, name := range named(5) {
					m, _ := c.Node("n1").View().Member(name)
					require.Equal(t, uint64(6+i), m.UpNumber, "each is a new member")
				}
			})
		})
	}
}

// After an hour the removed node learns within a second that it was removed, and comes
// back as another member. Gossip about its old incarnation does not prevent that.
func TestAZombieOfAnHourAgoComesBackAsAnother(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		before := c.Node("n3").View().Self.ID()
		c.Pause("n3")
		time.Sleep(long(time.Hour))
		whole(t, c, 0, "n1", "n2")
		w, stop := watch(c.Node("n1"), "n1", "n2")
		c.Resume("n3")
		whole(t, c, 8*time.Second, named(3)...)
		require.NotEqual(t, before, c.Node("n3").View().Self.ID())
		time.Sleep(long(5 * time.Minute))
		stop()
		require.Empty(t, w.removed)
		require.Empty(t, w.unreachable)
		whole(t, c, 0, named(3)...)
	})
}
