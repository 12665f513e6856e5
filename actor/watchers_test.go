package actor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Watchers returns how many watchers an actor has.
func Watchers(ref AnyRef) int {
	c := ref.target().actor()
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.toKin().watchers.all())
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
	require.Len(t, c.toKin().watchers.all(), 1)
	require.Less(t, cap(c.toKin().watchers.list), 64)
}

func TestManyWatchersGoAsQuicklyAsFew(t *testing.T) {
	const many = 200_000 // which takes minutes when each looks at all others
	c := &core{}
	var told []int
	all := make([]*endWatcher, many)
	for n := range many {
		all[n] = numbered(&told, n)
		c.addWatcher(all[n])
	}
	start := time.Now()
	for n := range many {
		c.removeWatcher(all[many-1-n])
	}
	require.Less(t, time.Since(start), 10*time.Second)
	require.Empty(t, c.toKin().watchers.all())
}
