package actor

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Watchers returns how many watchers an actor has.
func Watchers(ref AnyRef) int {
	c := ref.target().actor()
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.ownRelations().watchers.all())
	for w := c.relations.asks.head.after; w != nil; w = w.after {
		n++
	}
	return n
}

func numbered(told *[]int, n int) *endWatcher {
	return &endWatcher{func() { *told = append(*told, n) }}
}

func TestWatchersAreToldInTheOrderInWhichTheyCameLessThoseThatHaveGone(t *testing.T) {
	for _, many := range []int{1, 5, 100, 1000} {
		for _, every := range []int{2, 3, 10} {
			c := &core{}
			var told, want []int
			all := make([]*endWatcher, many)
			for n := range many {
				all[n] = numbered(&told, n)
				require.True(t, c.addWatcher(all[n]))
			}
			for n, w := range all {
				if n%every == 0 {
					want = append(want, n)
					continue
				}
				c.removeWatcher(w)
				c.removeWatcher(w) // twice is once
			}
			last := numbered(&told, many)
			require.True(t, c.addWatcher(last))
			c.tellWatchers()
			require.Equal(t, append(want, many), told)
			require.False(t, c.addWatcher(last))
		}
	}
}

func TestWatchersThatHaveGoneAreForgotten(t *testing.T) {
	c := &core{}
	var told []int
	first := numbered(&told, -1)
	c.addWatcher(first)
	for n := range 100_000 {
		w := numbered(&told, n)
		c.addWatcher(w)
		c.removeWatcher(w)
	}
	require.Len(t, c.ownRelations().watchers.all(), 1)
	require.Less(t, cap(c.ownRelations().watchers.list), 64)
}

func TestManyWatchersGoAsQuicklyAsFew(t *testing.T) {
	const many = 50_000
	c := &core{}
	var told []int
	all := make([]*endWatcher, many)
	for n := range many {
		all[n] = numbered(&told, n)
		c.addWatcher(all[n])
	}
	slices.Reverse(all)
	var times []time.Duration
	for piece := range slices.Chunk(all, 1000) {
		start := time.Now()
		for _, w := range piece {
			c.removeWatcher(w)
		}
		times = append(times, time.Since(start))
	}
	full, few := slices.Min(times[:10]), slices.Min(times[len(times)-10:]) // the least: the machine may be busy
	t.Logf("%v with many, %v with few", full, few)
	require.Less(t, full, 10*few+time.Millisecond)
	require.Empty(t, c.ownRelations().watchers.all())
}
