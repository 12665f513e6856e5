package bylabel

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachValueHasItsOwn(t *testing.T) {
	var m Map[int]
	*m.Of("b") += 2
	*m.Of("a")++
	*m.Of("b")++
	var got []string
	for value, n := range m.All() {
		got = append(got, fmt.Sprint(value, *n))
	}
	require.Equal(t, []string{"a1", "b3"}, got)
}

func TestValuesBeyondTheLimitShareOne(t *testing.T) {
	var m Map[atomic.Int64]
	for i := range Limit + 7 {
		m.Of(fmt.Sprint(i)).Add(1)
	}
	m.Of("0").Add(1)
	values := 0
	for range m.All() {
		values++
	}
	require.Equal(t, Limit+1, values)
	require.EqualValues(t, 7, m.Of(Other).Load())
	require.EqualValues(t, 2, m.Of("0").Load())
}
