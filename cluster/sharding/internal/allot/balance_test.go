package allot

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func loadsOf(counts ...int) (all []load) {
	for i, n := range counts {
		all = append(all, load{fmt.Sprint(i), n})
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
		{[]int{3, 0, 0}, 5, []load{{"0", 2}}},
		{[]int{4, 4, 0}, 5, []load{{"0", 1}, {"1", 1}}},
		{[]int{50, 50, 0}, 100, []load{{"0", 17}, {"1", 16}}},
		{[]int{50, 50, 0}, 5, []load{{"0", 3}, {"1", 2}}},
		{[]int{256, 0}, 25, []load{{"0", 25}}},
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
