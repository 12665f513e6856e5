package journaltest

import (
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var damageLaws = []law{
	{"ADamagedRecordIsAnError", func(e *env) {
		e.need(e.features.DamageRecord != nil, "DamageRecord")
		j := e.journal()
		e.writer(j, "x").append(numbered("e", 10)...)
		e.features.DamageRecord(e.T, j, "x", 6)
		e.requireReadEndsAt(j, 6)
		require.Len(e, e.read(j, "x", 7, 10), 4, "others are not concerned")
	}},
	{"AMissingRecordIsAnError", func(e *env) {
		e.need(e.features.DropRecord != nil, "DropRecord")
		for _, seq := range []uint64{1, 6, 10} {
			j := e.journal()
			e.writer(j, "x").append(numbered("e", 10)...)
			e.features.DropRecord(e.T, j, "x", seq)
			e.requireReadEndsAt(j, seq)
		}
	}},
	{"ALostRecordIsNotWrittenAgain", func(e *env) {
		e.need(e.features.DropRecord != nil, "DropRecord")
		j := e.journal()
		e.writer(j, "x").append("a", "b")
		e.features.DropRecord(e.T, j, "x", 2)
		require.Equal(e, uint64(2), e.writer(j, "x").last)
	}},
	{"ADamagedSnapshotIsPassedOver", func(e *env) {
		e.need(e.features.DamageSnapshot != nil, "DamageSnapshot")
		store, w := e.withSnapshots(10, 3, 5, 8)
		e.features.DamageSnapshot(e.T, w.j, "x", 8)
		s, ok, skipped, err := store.LoadSnapshot(e.Context(), "x", everything)
		require.NoError(e, err)
		require.True(e, ok)
		require.Equal(e, uint64(5), s.Seq)
		require.Equal(e, []uint64{8}, skipped)

		e.features.DamageSnapshot(e.T, w.j, "x", 3)
		e.features.DamageSnapshot(e.T, w.j, "x", 5)
		s, ok, skipped, err = store.LoadSnapshot(e.Context(), "x", everything)
		require.NoError(e, err)
		require.False(e, ok)
		require.Zero(e, s)
		require.Equal(e, []uint64{8, 5, 3}, skipped)
	}},
}

func (e *env) requireReadEndsAt(j journal.Journal, bad uint64) {
	e.Helper()
	next := uint64(1)
	var last error
	for r, err := range j.Read(e.Context(), "x", 1, everything) {
		if last = err; err != nil {
			continue
		}
		require.Equal(e, next, r.Seq)
		next++
	}
	require.ErrorIs(e, last, journal.ErrCorrupt)
	require.Equal(e, bad, next)
}
