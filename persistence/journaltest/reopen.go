package journaltest

import (
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

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
