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
