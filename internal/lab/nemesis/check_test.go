package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// entries are entries of three clients, sent one after the other.
var (
	a1 = Entry{"a", 1}
	a2 = Entry{"a", 2}
	b1 = Entry{"b", 1}
)

// write is an entry that was sent at from and acknowledged at to, in seconds.
func write(e Entry, from, to, place int) Write {
	return Write{Entry: e, Invoked: time.Duration(from) * time.Second, Returned: time.Duration(to) * time.Second, Place: uint64(place)}
}

// stored is a journal of those entries, all of one epoch.
func stored(entries ...Entry) (journal []Stored) {
	for i, e := range entries {
		journal = append(journal, Stored{Entry: e, Seq: uint64(i) + 1, Epoch: 1})
	}
	return journal
}

func TestAHistoryInOrderIsRight(t *testing.T) {
	h := History{Writes: []Write{write(a1, 1, 2, 1), write(b1, 3, 4, 2), write(a2, 5, 6, 3)}}
	require.Empty(t, check(h, stored(a1, b1, a2)))
}

func TestEntriesThatOverlapInTimeMayStandInAnyOrder(t *testing.T) {
	h := History{Writes: []Write{write(a1, 1, 10, 0), write(b1, 2, 9, 0)}}
	require.Empty(t, check(h, stored(a1, b1)))
	require.Empty(t, check(h, stored(b1, a1)))
}

func TestAnEntryThatWasNotAcknowledgedMayBeThereOrNot(t *testing.T) {
	h := History{Writes: []Write{write(a1, 1, 0, 0), write(b1, 3, 4, 0)}}
	require.Empty(t, check(h, stored(b1)))
	require.Empty(t, check(h, stored(b1, a1)))
	require.Empty(t, check(h, stored(a1, b1)))
}

func TestCheckFindsWhatCannotBe(t *testing.T) {
	inOrder := []Write{write(a1, 1, 2, 1), write(b1, 3, 4, 2)}
	newerEpoch := stored(a1, b1)
	newerEpoch[0].Epoch = 2
	gap := stored(a1, b1)
	gap[1].Seq = 3
	tests := []struct {
		name    string
		writes  []Write
		journal []Stored
		want    string
	}{
		{"an acknowledged entry that is lost", inOrder, stored(a1), "{b 1} was acknowledged at 4s and is not in the journal"},
		{"an entry that is there twice", inOrder, stored(a1, b1, a1), "{a 1} is in the journal at 1 and at 3"},
		{"an entry that nobody has sent", inOrder, stored(a1, b1, a2), "{a 2} is in the journal at 3, and nobody has sent it"},
		{"a place that was not so", []Write{write(a1, 1, 2, 2)}, stored(a1), "{a 1} was acknowledged at place 2 and stands at 1"},
		{
			"an order that contradicts time",
			[]Write{write(a1, 1, 2, 0), write(b1, 3, 4, 0)},
			stored(b1, a1),
			"{a 1} was acknowledged at 2s, {b 1} was sent at 3s, and stands before it",
		},
		{
			"one that was never acknowledged before one that was",
			[]Write{write(a1, 1, 2, 0), write(b1, 3, 0, 0)},
			stored(b1, a1),
			"{a 1} was acknowledged at 2s, {b 1} was sent at 3s, and stands before it",
		},
		{"an epoch that falls", inOrder, newerEpoch, "record 2 was written in epoch 1, after a record of epoch 2"},
		{"a gap in the numbers", inOrder, gap, "record 2 of the journal has the number 3"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, []string{test.want}, check(History{Writes: test.writes}, test.journal))
		})
	}
}

// read is an answer to a look that was sent at from and came at to, in seconds.
func read(from, to int, ledger ...Entry) Read {
	return Read{Invoked: time.Duration(from) * time.Second, Returned: time.Duration(to) * time.Second, Sum: sumOf(stored(ledger...))}
}

func TestReadsReturnWhatTheLedgerHasBeen(t *testing.T) {
	h := History{Writes: []Write{write(a1, 1, 2, 1), write(b1, 3, 4, 2)}}
	h.Reads = []Read{read(0, 1), read(1, 2, a1), read(3, 4, a1, b1), read(5, 6, a1)}
	require.Empty(t, check(h, stored(a1, b1)), "the last one comes from an instance that was replaced")
	n, worst := staleReads(h, stored(a1, b1))
	require.Equal(t, 1, n)
	require.Equal(t, time.Second, worst, "b 1 was acknowledged a second before")
}

func TestCheckFindsReadsThatCannotBe(t *testing.T) {
	h := History{Writes: []Write{write(a1, 1, 2, 1), write(b1, 3, 4, 2)}}
	for want, r := range map[string]Read{
		"at 9s the ledger had other entries than the first 1 of the journal": read(8, 9, b1),
		"at 9s the ledger had 3 entries, of 2 in the end":                    read(8, 9, a1, b1, a2),
		"at 2s the ledger had an entry that was sent at 3s":                  read(1, 2, a1, b1),
	} {
		h.Reads = []Read{r}
		require.Equal(t, []string{want}, check(h, stored(a1, b1)))
	}
}
