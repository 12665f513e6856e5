package persistence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
)

func TestEverySliceIsInOneRange(t *testing.T) {
	for _, n := range []int{-1, 1, 2, 3, 7, 1000, persistence.Slices, persistence.Slices + 1} {
		ranges := persistence.Split(n)
		require.Len(t, ranges, min(max(n, 1), persistence.Slices))
		for slice := range persistence.Slices {
			in := 0
			for _, r := range ranges {
				if r.Contains(slice) {
					in++
				}
			}
			require.Equal(t, 1, in, "slice %d of %d ranges", slice, n)
		}
	}
	require.True(t, persistence.SliceRange{}.Contains(persistence.Slices-1))
}

// What stores keep must not change.
func TestTheSliceOfAnIDIsTheSameForEver(t *testing.T) {
	require.Equal(t, 453, persistence.SliceOf(""))
	require.Equal(t, 150, persistence.SliceOf("account-1"))
	require.Equal(t, 593, persistence.SliceOf("日本"))
}

func TestAQueryThatCannotBeAnsweredIsInvalid(t *testing.T) {
	for _, r := range []persistence.SliceRange{{From: -1, To: 3}, {From: 3, To: 3}, {From: 0, To: 1025}, {From: 5, To: 4}} {
		require.ErrorIs(t, persistence.Query{Slices: r}.Validate(), persistence.ErrInvalid)
	}
	require.ErrorIs(t, persistence.Query{Tag: "\xff"}.Validate(), persistence.ErrInvalid)
	require.NoError(t, persistence.Query{}.Validate())
	require.NoError(t, persistence.Query{Tag: "t", Slices: persistence.SliceRange{From: 0, To: 1024}}.Validate())
}
