package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func anything(Kind) bool { return true }

// rounds draws n of them.
func rounds(n int, draw func() Round) (drawn []Round) {
	for range n {
		drawn = append(drawn, draw())
	}
	return drawn
}

func TestTheSameSeedDrawsTheSameSchedule(t *testing.T) {
	seven := rounds(100, plan(7, 5, anything, false))
	require.Equal(t, seven, rounds(100, plan(7, 5, anything, false)))
	require.NotEqual(t, seven, rounds(100, plan(8, 5, anything, false)))
}

func TestEveryKindOfFaultIsDrawnAndMakesSense(t *testing.T) {
	drawn := map[Kind]int{}
	for _, r := range rounds(1000, plan(1, 5, anything, false)) {
		for _, f := range r.Faults {
			drawn[f.Kind]++
			require.Subset(t, []int{0, 1, 2, 3, 4}, f.Targets)
			require.GreaterOrEqual(t, f.For, 100*time.Millisecond)
			require.LessOrEqual(t, f.For, 30*time.Second)
			if f.Kind == Partition || f.Kind == Mute {
				require.Less(t, len(f.Targets), 5, "the other side is not empty")
			}
			if f.Kind == Lose {
				require.Contains(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, f.Percent)
			}
		}
	}
	for _, w := range weights {
		require.Greater(t, drawn[w.kind], 10, w.kind)
	}
}

func TestAFaultThatTheKernelCannotDoIsNotDrawn(t *testing.T) {
	for _, r := range rounds(1000, plan(1, 5, func(k Kind) bool { return k != Slow }, false)) {
		for _, f := range r.Faults {
			require.NotEqual(t, Slow, f.Kind)
		}
	}
}

func TestTheHostTakesThePlaceOfTheFirstTarget(t *testing.T) {
	f := Fault{Kind: Partition, Targets: []int{3, 1, 2}, Host: true, For: time.Second}
	require.Equal(t, []int{0, 1, 2}, f.on(0).Targets)
	require.Equal(t, []int{1, 3, 2}, f.on(1).Targets)
	require.Equal(t, []int{3, 1, 2}, f.on(-1).Targets, "nobody hosts")
	require.Equal(t, []int{3, 1, 2}, f.Targets)
	require.Equal(t, "partition n4 n2 n3 for 1s", f.describe(func(n int) string { return []string{"n1", "n2", "n3", "n4"}[n] }))
}
