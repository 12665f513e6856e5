package singletonhook_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/singletonhook"
)

func TestOfTwoRecordsTheHigherTermIsRight(t *testing.T) {
	fenced := singletonhook.Record{Term: 2, Fenced: true}
	for _, o := range []singletonhook.Record{{}, {Term: 1, Fenced: true}, {Term: 2}} {
		require.Equal(t, fenced, fenced.Merge(o))
		require.Equal(t, fenced, o.Merge(fenced))
	}
	require.Equal(t, singletonhook.Record{Term: 3}, fenced.Merge(singletonhook.Record{Term: 3}))
}
