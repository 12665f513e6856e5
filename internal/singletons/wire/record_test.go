package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/singletons/wire"
)

func TestOfTwoRecordsTheHigherTermIsRight(t *testing.T) {
	fenced := wire.Record{Term: 2, Fenced: true}
	for _, o := range []wire.Record{{}, {Term: 1, Fenced: true}, {Term: 2}} {
		require.Equal(t, fenced, fenced.Merge(o))
		require.Equal(t, fenced, o.Merge(fenced))
	}
	require.Equal(t, wire.Record{Term: 3}, fenced.Merge(wire.Record{Term: 3}))
}
