package simulation_test

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/simulation"
)

func TestShrinkingKeepsWhatTheFailureNeedsAndNothingElse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0)) //nolint:gosec // a test
	for range 200 {
		schedule := rng.Perm(1 + rng.IntN(60))
		needed := slices.Sorted(slices.Values(schedule[:rng.IntN(min(4, len(schedule)+1))]))
		runs := 0
		smallest := simulation.Shrink(schedule, func(s []int) bool {
			runs++
			return !slices.ContainsFunc(needed, func(n int) bool { return !slices.Contains(s, n) })
		})
		require.ElementsMatch(t, needed, smallest)
		require.Less(t, runs, 600)
	}
}

func TestAllSeedsRunUntilOneFails(t *testing.T) {
	var runs atomic.Uint64
	_, ok := simulation.Seeds(10, 100, func(seed uint64) bool {
		runs.Add(1)
		return seed >= 10 && seed < 110
	})
	require.True(t, ok)
	require.EqualValues(t, 100, runs.Load())
	failed, ok := simulation.Seeds(10, 1_000_000, func(seed uint64) bool { return seed < 50 })
	require.False(t, ok)
	require.GreaterOrEqual(t, failed, uint64(50))
	require.Less(t, failed, uint64(500))
	_, ok = simulation.Seeds(0, 0, func(uint64) bool { return false })
	require.True(t, ok)
}
