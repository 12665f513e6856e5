//go:build !quick

package clustertest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/testkit/clustertest"
)

// gossipOnly tells memberlist's datagrams by their first byte.
func gossipOnly(data []byte) bool { return len(data) > 0 && data[0] == 'M' }

// No datagram of memberlist reaches n3 or leaves it, so its probes fail, except those
// over streams. Members ignore the verdict of memberlist.
func TestWhatMemberlistBelievesConvictsNobody(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		untouched(t, c, func() {
			lost := 0
			c.Network().Drop(func(from, to string, data []byte) bool {
				drop := gossipOnly(data) && (from == "n3" || to == "n3")
				if drop {
					lost++
				}
				return drop
			})
			time.Sleep(long(10 * time.Minute))
			c.Network().Drop(nil)
			require.Positive(t, lost)
			time.Sleep(long(time.Minute))
		})
		c.Add("n4")
		whole(t, c, 3*time.Second, named(4)...)
	})
}

// No datagrams of memberlist arrive anywhere, for longer than it remembers dead nodes.
// Changes spread nevertheless, and afterwards gossip includes all nodes again.
func TestGossipThatWasSplitIsJoinedAgain(t *testing.T) {
	scenario(t, 5, func(t *testing.T, c *clustertest.Cluster) {
		c.Network().Drop(func(_, _ string, data []byte) bool { return gossipOnly(data) })
		untouched(t, c, func() { time.Sleep(2 * time.Minute) })
		c.Crash("n5")
		whole(t, c, detection+stableAfter+time.Second, named(4)...)
		c.Network().Drop(nil)
		time.Sleep(time.Second) // the last has agreed to the removal by then
		untouched(t, c, func() { time.Sleep(7 * time.Second) })
		c.Add("n5")
		whole(t, c, time.Second, named(5)...)
	})
}
