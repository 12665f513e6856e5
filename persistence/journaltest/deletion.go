package journaltest

import (
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var deletionLaws = []law{
	{"DeletedRecordsAreGoneAndTheNumbersGoOn", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		w.append(numbered("e", 10)...)
		require.NoError(e, j.DeleteTo(e.Context(), "x", w.claim.Epoch, 4))
		records := e.read(j, "x", 1, everything)
		require.Len(e, records, 6)
		require.Equal(e, uint64(5), records[0].Seq)
		require.Empty(e, e.read(j, "x", 1, 4))
		w.append("next")
		require.Equal(e, uint64(11), e.read(j, "x", 11, 11)[0].Seq)
		claim := e.writer(j, "x").claim
		require.Equal(e, uint64(11), claim.LastSeq)
		require.Equal(e, uint64(4), claim.DeletedTo)
	}},
	{"DeletingBeyondTheLastDeletesAllThereIs", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		w.append(numbered("e", 10)...)
		require.NoError(e, j.DeleteTo(e.Context(), "x", w.claim.Epoch, everything))
		require.Empty(e, e.read(j, "x", 1, everything))
		w.append("next")
		require.Equal(e, []string{"next"}, e.payloads(j, "x"))
		claim := e.writer(j, "x").claim
		require.Equal(e, uint64(11), claim.LastSeq)
		require.Equal(e, uint64(10), claim.DeletedTo)
	}},
	{"DeletionNeverGoesBack", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		w.append(numbered("e", 10)...)
		for _, seq := range []uint64{5, 3, 0, 5} {
			require.NoError(e, j.DeleteTo(e.Context(), "x", w.claim.Epoch, seq))
			require.Len(e, e.read(j, "x", 1, everything), 5)
		}
	}},
	{"ManyRecordsAreDeletedWithTheirTags", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		other := e.writer(j, "y")
		for range 25 {
			req := w.next(numbered("e", 100)...)
			for i := range req.Records {
				req.Records[i].Tags = []string{"red", "blue"}
			}
			require.NoError(e, w.try(req))
			w.last += 100
			other.append("y")
		}
		require.NoError(e, j.DeleteTo(e.Context(), "x", w.claim.Epoch, 2450))
		require.Len(e, e.read(j, "x", 1, everything), 50)
		require.Len(e, e.read(j, "y", 1, everything), 25)
	}},
	{"AReadDuringADeletionHasNoGap", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		w.append(numbered("e", 3000)...)
		next := uint64(1)
		for r, err := range j.Read(e.Context(), "x", 1, everything) {
			if err != nil {
				require.ErrorIs(e, err, journal.ErrUnavailable)
				break
			}
			require.Equal(e, next, r.Seq)
			if next++; r.Seq == 10 {
				require.NoError(e, j.DeleteTo(e.Context(), "x", w.claim.Epoch, 2900))
			}
		}
		require.Len(e, e.read(j, "x", 1, everything), 100, "a new read begins after what was deleted")
	}},
}

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
