package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheLedgerRemembersTheLastEntryOfEachClient(t *testing.T) {
	var l Ledger
	for _, e := range []Entry{a1, b1, a2} {
		l = onWritten(l, Written{Entry: e})
	}
	require.Equal(t, sumOf(stored(a1, b1, a2)), l.Sum)
	require.Equal(t, map[string]Mark{"a": {N: 2, Place: 3}, "b": {N: 1, Place: 2}}, l.Last)
	require.Equal(t, Receipt{Place: 3}, receiptOf(l.Last["a"], a2))
	require.Equal(t, Receipt{}, receiptOf(l.Last["a"], a1), "its place has been forgotten")
}

func TestLedgersOfOtherEntriesHaveAnotherDigest(t *testing.T) {
	require.NotEqual(t, sumOf(stored(a1, b1)), sumOf(stored(b1, a1)))
	require.NotEqual(t, sumOf(stored(a1)), sumOf(stored(a2)))
}
