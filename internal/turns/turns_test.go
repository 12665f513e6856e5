package turns

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func nobody(string) bool { return false }

// all takes all items.
func all(q *Queue[string, int]) (items []int) {
	for {
		_, item, ok := q.Pop(nobody)
		if !ok {
			return items
		}
		items = append(items, item)
	}
}

func TestOwnersAreServedInTurnAndTheItemsOfEachInOrder(t *testing.T) {
	var q Queue[string, int]
	for n := range 5 {
		q.Push("many", n)
	}
	q.Push("few", 10)
	q.Push("few", 11)
	q.Push("one", 20)
	require.Equal(t, 5, q.Len("many"))
	require.Equal(t, []int{0, 10, 20, 1, 11, 2, 3, 4}, all(&q))
	require.True(t, q.Empty())
	require.Zero(t, q.Len("many"))
}

func TestWhoComesLaterIsServedAfterOneItemOfEachOther(t *testing.T) {
	var q Queue[string, int]
	for n := range 5 {
		q.Push("a", n)
		q.Push("b", 10+n)
	}
	q.Pop(nobody)
	q.Push("late", 20)
	require.Equal(t, []int{10, 1, 20, 11, 2, 12, 3, 13, 4, 14}, all(&q))
}

func TestWhoIsSkippedKeepsItsItems(t *testing.T) {
	var q Queue[string, int]
	q.Push("a", 1)
	q.Push("a", 2)
	q.Push("b", 10)
	owner, item, ok := q.Pop(func(owner string) bool { return owner == "a" })
	require.True(t, ok)
	require.Equal(t, "b", owner)
	require.Equal(t, 10, item)
	_, _, ok = q.Pop(func(string) bool { return true })
	require.False(t, ok)
	require.Equal(t, []int{1, 2}, all(&q))
}
