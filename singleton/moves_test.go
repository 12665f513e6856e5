package singleton_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/testkit"
)

// The order of election changes repeatedly, and each node learns it at a different time. Messages
// therefore reach nodes that no longer host, do not host yet, or wrongly believe to host.
func TestNothingIsLostOrOutOfOrderWhileViewsDisagree(t *testing.T) {
	for seed := range effort.Count[uint64](2, 6, 60) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			inCluster(t, []string{"a", "b", "c", "d"}, func(t *testing.T, c *cluster) {
				c.straight = seed%2 == 0
				rng := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a schedule, not a secret
				upTo := func(d time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(d))) }
				c.net.slow(upTo(5 * time.Millisecond))
				book, census := newLedger(), testkit.NewCensus(t)
				refs := onAll(c, testkit.Counted(census, book.keep(0)))
				settle()
				for name, ref := range refs {
					pace := upTo(2 * time.Millisecond)
					go func() {
						for n := range 300 {
							ref.Tell(numbered{name, n + 1})
							time.Sleep(pace)
						}
					}()
				}
				for range 30 {
					c.reorder(rng, upTo)
					time.Sleep(upTo(40 * time.Millisecond))
				}
				time.Sleep(10 * time.Second)
				book.requireAll(t, 300, "a", "b", "c", "d")
				require.Equal(t, 1, census.Running())
				require.Equal(t, 1, census.Peak())
				require.Greater(t, census.Started(), 2)
			})
		})
	}
}

// reorder changes the order of election; everybody learns it in up to 20 ms.
func (c *cluster) reorder(rng *rand.Rand, upTo func(time.Duration) time.Duration) {
	c.mu.Lock()
	members := slices.Clone(c.members)
	rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	c.members = members
	c.mu.Unlock()
	for _, n := range members {
		time.AfterFunc(upTo(20*time.Millisecond), func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.show(n, c.members)
		})
	}
}
