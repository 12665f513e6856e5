package fifo

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAQueueForgetsNothingAndKeepsNothing(t *testing.T) {
	var f Queue[*int]
	in, out := 0, 0
	for round := range 50 {
		for range round {
			n := in
			f.Push(&n)
			in++
		}
		for range round / 2 {
			require.Equal(t, out, *f.Pop())
			out++
		}
		require.Equal(t, in-out, f.Len())
		for _, gone := range f.items[:f.next] {
			require.Nil(t, gone)
		}
	}
	rest := f.Drain()
	require.Len(t, rest, in-out)
	require.Equal(t, out, *rest[0])
	require.Zero(t, f.Len())
}

func TestItemsAreRemovedWhereverTheyAre(t *testing.T) {
	for popped := range 3 {
		q := Of([]int{1, 2, 3, 4, 5, 6})
		for range popped {
			q.Pop()
		}
		removed := q.Remove(func(n int) bool { return n%2 == 0 })
		require.Equal(t, []int{2, 4, 6}[popped/2:], removed)
		q.Push(7)
		require.Equal(t, []int{1, 3, 5, 7}[(popped+1)/2:], q.Drain())
	}
}
