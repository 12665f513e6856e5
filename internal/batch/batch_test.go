package batch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBatchesAreAsLargeAsTheyMayBe(t *testing.T) {
	for _, c := range []struct {
		all  []int
		want [][]int
	}{
		{nil, nil},
		{[]int{1}, [][]int{{1}}},
		{[]int{4, 6, 1}, [][]int{{4, 6}, {1}}},
		{[]int{5, 6, 5}, [][]int{{5}, {6}, {5}}},
		{[]int{1, 11, 1}, [][]int{{1}, {11}, {1}}},
		{[]int{20}, [][]int{{20}}},
	} {
		require.Equal(t, c.want, Split(c.all, 10, func(n int) int { return n }))
	}
}
