package singleton

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOneMessageTooManyTakesThePlaceOfTheOldest(t *testing.T) {
	var g givenUpMessages
	for n := range uint64(MaxGivenUp) {
		number, over := g.add(keptMessage{GivenUp: GivenUp{Singleton: "one"}})
		require.Equal(t, n+1, number)
		require.Zero(t, over)
	}
	number, over := g.add(keptMessage{GivenUp: GivenUp{Singleton: "two"}})
	require.Equal(t, uint64(MaxGivenUp+1), number)
	require.Equal(t, uint64(1), over)
	require.Equal(t, map[string]int{"one": MaxGivenUp - 1, "two": 1}, g.counts())
	_, kept := g.take(1)
	require.False(t, kept)
	require.Equal(t, MaxGivenUp-1, g.forget("one"))
	require.Len(t, g.list(), 1)
}
