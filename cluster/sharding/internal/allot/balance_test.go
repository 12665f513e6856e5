package allot

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

func loadsOf(counts ...int) (all []load) {
	for i, n := range counts {
		all = append(all, load{node: fmt.Sprint(i), shards: n})
	}
	return all
}

func TestTheMostLoadedNodesGiveFirst(t *testing.T) {
	for _, c := range []struct {
		counts []int
		limit  int
		gives  []load
	}{
		{nil, 5, nil},
		{[]int{7}, 5, nil},
		{[]int{1, 1, 0}, 5, nil},
		{[]int{3, 0, 0}, 5, []load{{node: "0", shards: 2}}},
		{[]int{4, 4, 0}, 5, []load{{node: "0", shards: 1}, {node: "1", shards: 1}}},
		{[]int{50, 50, 0}, 100, []load{{node: "0", shards: 17}, {node: "1", shards: 16}}},
		{[]int{50, 50, 0}, 5, []load{{node: "0", shards: 3}, {node: "1", shards: 2}}},
		{[]int{256, 0}, 25, []load{{node: "0", shards: 25}}},
		{[]int{2, 1, 1}, 5, nil},
	} {
		require.Equal(t, c.gives, excess(loadsOf(c.counts...), c.limit), "%v", c.counts)
	}
}

// Whatever the numbers are, balancing ends, and it ends with numbers that differ by at most one.
func TestBalancingEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		counts := make([]int, 1+rng.IntN(6))
		for i := range counts {
			counts[i] = rng.IntN(100)
		}
		for round := 0; ; round++ {
			require.Less(t, round, 1000)
			gives := excess(loadsOf(counts...), 10)
			if len(gives) == 0 {
				break
			}
			for _, g := range gives {
				var from int
				_, err := fmt.Sscan(g.node, &from)
				require.NoError(t, err)
				for range g.shards {
					least := 0
					for i := range counts {
						if counts[i] < counts[least] {
							least = i
						}
					}
					counts[from]--
					counts[least]++
				}
			}
		}
		low, high := counts[0], counts[0]
		for _, n := range counts {
			low, high = min(low, n), max(high, n)
		}
		require.LessOrEqual(t, high-low, 1, "%v", counts)
	}
}

// A rolling restart: as long as each node is back and the next one goes within the calm time, no
// shard moves to balance the nodes.
func TestAfterAChangeOfTheMembersNoShardIsMovedForSomeTime(t *testing.T) {
	r := newRig(t)
	r.join("a")
	require.Equal(t, map[string]int{"a": 8}, r.homes())
	r.pass(29 * time.Second)
	r.join("b")
	r.pass(29 * time.Second)
	require.Equal(t, map[string]int{"a": 8}, r.homes())
	require.Equal(t, "no shard is moved, because b has joined less than 30s ago", r.m.Explain("cart", 0).Why)
	r.leave("b")
	r.join("b")
	r.pass(29 * time.Second)
	require.Equal(t, map[string]int{"a": 8}, r.homes(), "another process of the same name")
	r.view()
	r.pass(12 * time.Second)
	require.Equal(t, map[string]int{"a": 7, "b": 1}, r.homes(), "a view with the same members is no change")
	r.pass(40 * time.Second)
	require.Equal(t, map[string]int{"a": 4, "b": 4}, r.homes())
	require.Empty(t, r.m.Explain("cart", 0).Why)
	r.leave("b")
	r.pass(10 * time.Second)
	require.Equal(t, "no shard is moved, because a node has left less than 30s ago", r.m.Explain("cart", 0).Why)
}

// A new coordinator does not know how long ago the members changed.
func TestANewCoordinatorBalancesAfterTheCalmTime(t *testing.T) {
	r := newRig(t)
	r.join("a")
	r.join("b")
	r.begin(2)
	r.pass(25 * time.Second)
	require.Equal(t, map[string]int{"a": 8}, r.homes())
	require.Equal(t, "no shard is moved, because the coordinator has begun less than 30s ago", r.m.Explain("cart", 0).Why)
	r.pass(time.Minute)
	require.Equal(t, map[string]int{"a": 4, "b": 4}, r.homes())
}

// A cluster that starts: the first node has all shards when the others come.
func TestShardsWithoutEntitiesMoveAtOnceToNodesThatJoin(t *testing.T) {
	r := newRig(t)
	r.vacant = 0
	r.join("a")
	r.pass(time.Second)
	r.hello(r.nodes[0])
	r.join("b", "c")
	r.pass(time.Second)
	r.view()
	require.Equal(t, map[string]int{"a": 3, "b": 3, "c": 2}, r.homes())
	starts := r.starts
	r.pass(time.Minute)
	require.Equal(t, starts, r.starts, "there is nothing more to move")
}

func TestAfterANodeHasLeftShardsWithoutEntitiesStayForSomeTime(t *testing.T) {
	r := newRig(t)
	r.join("a", "b")
	r.vacant = 0
	r.pass(time.Minute)
	r.leave("b")
	r.join("b")
	r.pass(20 * time.Second)
	r.view()
	require.Equal(t, map[string]int{"a": 8}, r.homes())
	r.pass(11 * time.Second)
	r.view()
	require.Equal(t, map[string]int{"a": 4, "b": 4}, r.homes())
}

func TestShardsWithEntitiesStayWhenTheOthersMoveAtOnce(t *testing.T) {
	r := newRig(t)
	r.vacant = 6
	r.join("a")
	r.pass(time.Second)
	r.hello(r.nodes[0])
	r.join("b")
	require.Equal(t, map[string]int{"a": 6, "b": 2}, r.homes())
	for shard := range 6 {
		require.Equal(t, "a", r.on(shard))
	}
	r.pass(time.Minute)
	require.Equal(t, map[string]int{"a": 4, "b": 4}, r.homes())
}

func TestNoShardMovesAtOnceDuringARollingUpdate(t *testing.T) {
	r := newRig(t)
	r.vacant = 0
	r.join("a")
	r.pass(time.Second)
	r.hello(r.nodes[0])
	r.nodes = append(slices.Clone(r.nodes), home.Node{Name: "b", Address: "b", Incarnation: r.next(), Up: true, Reachable: true, AppVersion: "v2"})
	r.view()
	require.Equal(t, map[string]int{"a": 8}, r.homes())
}
