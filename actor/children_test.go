package actor

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChildrenAreFoundAndListedFromTheOldestToTheYoungest(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // it is to be repeated
		var c children
		var want []*core
		uid := uint64(0)
		for range 100 {
			if random.IntN(3) > 0 {
				for range random.IntN(10) {
					uid++
					child := &core{uid: uid, parent: new(core)}
					if random.IntN(2) == 0 {
						child.label = "named-" + strconv.FormatUint(uid, 10)
					}
					c.add(child)
					want = append(want, child)
				}
			} else {
				for range random.IntN(len(want) + 1) {
					i := random.IntN(len(want))
					gone := want[i]
					c.remove(gone)
					want = slices.Delete(want, i, i+1)
					require.Nil(t, c.find(gone.name()), "seed %d", seed)
				}
			}
			require.Equal(t, len(want), c.count, "seed %d", seed)
			require.True(t, slices.Equal(want, c.list()), "seed %d", seed)
			for _, child := range want {
				require.Same(t, child, c.find(child.name()), "seed %d", seed)
			}
		}
	}
}

func TestChildrenThatHaveGoneAreForgotten(t *testing.T) {
	var c children
	var all []*core
	for range 10_000 {
		all = append(all, new(core))
		c.add(all[len(all)-1])
	}
	for _, child := range all[1:] {
		c.remove(child)
	}
	require.Equal(t, all[:1], c.list())
	require.LessOrEqual(t, cap(c.all), 64)
	for range 10_000 {
		child := new(core)
		c.add(child)
		c.remove(child)
	}
	require.LessOrEqual(t, cap(c.all), 64)
}
