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
