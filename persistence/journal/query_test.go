package journal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

func TestEverySliceIsInOneRange(t *testing.T) {
	for _, n := range []int{-1, 1, 2, 3, 7, 1000, journal.Slices, journal.Slices + 1} {
		ranges := journal.Split(n)
		require.Len(t, ranges, min(max(n, 1), journal.Slices))
		for slice := range journal.Slices {
			in := 0
			for _, r := range ranges {
				if r.Contains(slice) {
					in++
				}
			}
			require.Equal(t, 1, in, "slice %d of %d ranges", slice, n)
		}
	}
	require.True(t, journal.SliceRange{}.Contains(journal.Slices-1))
}

// Stores keep these values, so they must not change.
func TestTheSliceOfAnIDIsTheSameForEver(t *testing.T) {
	require.Equal(t, 453, journal.SliceOf(""))
	require.Equal(t, 150, journal.SliceOf("account-1"))
	require.Equal(t, 593, journal.SliceOf("日本"))
}

func TestAQueryThatCannotBeAnsweredIsInvalid(t *testing.T) {
	for _, r := range []journal.SliceRange{{From: -1, To: 3}, {From: 3, To: 3}, {From: 0, To: 1025}, {From: 5, To: 4}} {
		require.ErrorIs(t, journal.Query{Slices: r}.Validate(), journal.ErrInvalid)
	}
	require.ErrorIs(t, journal.Query{Tag: "\xff"}.Validate(), journal.ErrInvalid)
	require.NoError(t, journal.Query{}.Validate())
	require.NoError(t, journal.Query{Tag: "t", Slices: journal.SliceRange{From: 0, To: 1024}}.Validate())
}
