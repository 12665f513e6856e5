package singleton_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton"
)

func TestOfTwoRecordsTheHigherTermIsRight(t *testing.T) {
	fenced := singleton.Record{Term: 2, Fenced: true}
	for _, o := range []singleton.Record{{}, {Term: 1, Fenced: true}, {Term: 2}} {
		require.Equal(t, fenced, fenced.Merge(o))
		require.Equal(t, fenced, o.Merge(fenced))
	}
	require.Equal(t, singleton.Record{Term: 3}, fenced.Merge(singleton.Record{Term: 3}))
}
