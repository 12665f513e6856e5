package failover

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheBooksFindALostADoubledAndAMisplacedIncrement(t *testing.T) {
	a, b := ID{"n1-a", 1}, ID{"n2-b", 1}
	books := newBooks()
	books.acknowledged(Ack{ID: a})
	require.NoError(t, books.check(Counted{Applied: []ID{a, b}}, []ID{a, b}), "one that was not acknowledged may be there")
	require.ErrorContains(t, books.check(Counted{Applied: []ID{b}}, []ID{b}), "acknowledged and counted 0 times")
	require.ErrorContains(t, books.check(Counted{Applied: []ID{a, a}}, []ID{a, a}), "counted 2 times")
	require.ErrorContains(t, books.check(Counted{Applied: []ID{a, b}}, []ID{b, a}), "in the journal")
	require.ErrorContains(t, books.check(Counted{Applied: []ID{a}}, []ID{a, b}), "the journal 2")
}

func TestGenerationsAreComparedByTermAndThenBySequence(t *testing.T) {
	require.True(t, newer("10.1", "9.9"))
	require.True(t, newer("2.2", "2.1"))
	require.False(t, newer("2.1", "2.1"))
	require.False(t, newer("", "1.1"))
}
