package journaltest

import (
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var retryLaws = []law{
	{"ARetryOfAnAppliedRequestSucceedsAndStoresNothing", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		first := w.next("a", "b")
		for range 3 {
			require.NoError(e, w.try(first))
		}
		w.last += 2
		w.append("c")
		require.NoError(e, w.try(first), "also when more has been written since")
		require.Equal(e, []string{"a", "b", "c"}, e.payloads(j, "x"))
	}},
	{"ARetryIsRecognisedWithAllItsFields", func(e *env) {
		w := e.writer(e.journal(), "x")
		req := w.next("")
		full := fullRecord()
		full.Seq, full.Epoch = 1, w.claim.Epoch
		req.Records[0] = full
		require.NoError(e, w.try(req))
		require.NoError(e, w.try(req))
	}},
	{"AChangedRetryIsAConflict", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		req := w.next("a", "b", "c")
		require.NoError(e, w.try(req))
		w.last += 3
		epoch := w.claim.Epoch
		for _, changed := range []journal.AppendRequest{
			request("x", epoch, 0, "a", "b", "changed"),
			request("x", epoch, 0, "changed", "b", "c"),
			request("x", epoch, 0, "a", "b", "c", "d"),
			request("x", epoch, 1, "a", "b"),
			request("x", epoch, 2, "c", "d"),
		} {
			require.ErrorIs(e, w.try(changed), journal.ErrConflict)
		}
		tagged := w.next("a")
		tagged.Prev, tagged.Records[0].Seq, tagged.Records[0].Tags = 0, 1, []string{"tag"}
		require.ErrorIs(e, w.try(tagged), journal.ErrConflict)
		w.append("d")
		require.Equal(e, []string{"a", "b", "c", "d"}, e.payloads(j, "x"))
	}},
	{"ARetryAfterANewerClaimIsFenced", func(e *env) {
		j := e.journal()
		older := e.writer(j, "x")
		req := older.next("a", "b")
		require.NoError(e, older.try(req))
		newer := e.writer(j, "x")
		require.Equal(e, uint64(2), newer.last)
		require.ErrorIs(e, older.try(req), journal.ErrFenced)
		require.Equal(e, []string{"a", "b"}, e.payloads(j, "x"))
	}},
	{"RecordsOfAnEarlierEpochAreNobodysRetry", func(e *env) {
		j := e.journal()
		e.writer(j, "x").append("a")
		newer := e.writer(j, "x")
		require.ErrorIs(e, newer.try(request("x", newer.claim.Epoch, 0, "a")), journal.ErrConflict)
	}},
	{"DeletedRecordsAreNobodysRetry", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		req := w.next("a", "b")
		require.NoError(e, w.try(req))
		require.NoError(e, j.DeleteTo(e.Context(), "x", w.claim.Epoch, 1))
		require.ErrorIs(e, w.try(req), journal.ErrConflict)
	}},
}

var reopenLaws = []law{
	{"EverythingIsThereAfterReopening", func(e *env) {
		j := e.reopenable()
		w := e.writer(j, "x")
		w.append(numbered("e", 300)...)
		require.NoError(e, j.DeleteTo(e.Context(), "x", w.claim.Epoch, 100))
		before := e.read(j, "x", 1, everything)
		j = e.features.Reopen(e.T, j)
		require.Equal(e, before, e.read(j, "x", 1, everything))
		claim := e.writer(j, "x").claim
		require.Equal(e, uint64(300), claim.LastSeq)
		require.Equal(e, uint64(100), claim.DeletedTo)
		require.Greater(e, claim.Epoch, w.claim.Epoch)
	}},
	{"SnapshotsAreThereAfterReopening", func(e *env) {
		e.need(e.features.Reopen != nil, "Reopen")
		_, w := e.withSnapshots(5, 2, 5)
		store := e.snapshots(e.features.Reopen(e.T, w.j))
		s, ok, _, err := store.LoadSnapshot(e.Context(), "x", 4)
		require.NoError(e, err)
		require.True(e, ok)
		require.Equal(e, "state 2", string(s.Payload))
		requireSnapshots(e, store, "x", 2, 5)
	}},
	{"TheNumbersGoOnAfterAllWasDeletedAndReopened", func(e *env) {
		j := e.reopenable()
		w := e.writer(j, "x")
		w.append(numbered("e", 10)...)
		require.NoError(e, j.DeleteTo(e.Context(), "x", w.claim.Epoch, 10))
		w = e.writer(e.features.Reopen(e.T, j), "x")
		require.Equal(e, uint64(10), w.last)
		w.append("next")
	}},
	{"AWriterGoesOnAfterReopening", func(e *env) {
		j := e.reopenable()
		w := e.writer(j, "x")
		req := w.next("a")
		require.NoError(e, w.try(req))
		w.j = e.features.Reopen(e.T, j)
		require.NoError(e, w.try(req), "a retry is recognised")
		w.last++
		w.append("b")
		require.Equal(e, []string{"a", "b"}, e.payloads(w.j, "x"))
	}},
	{"TwoHandlesAreOneJournal", func(e *env) {
		e.need(e.features.SecondHandle != nil, "SecondHandle")
		one := e.journal()
		two := e.features.SecondHandle(e.T, one)
		first := e.writer(one, "x")
		first.append("a")
		require.Equal(e, []string{"a"}, e.payloads(two, "x"))
		second := e.writer(two, "x")
		require.Equal(e, uint64(1), second.last)
		require.ErrorIs(e, first.try(first.next("b")), journal.ErrFenced)
		second.append("c")
		require.Equal(e, []string{"a", "c"}, e.payloads(one, "x"))
		require.NoError(e, two.Close())
		e.writer(one, "x").append("d")
	}},
}

func (e *env) reopenable() journal.Journal {
	e.need(e.features.Reopen != nil, "Reopen")
	return e.journal()
}
