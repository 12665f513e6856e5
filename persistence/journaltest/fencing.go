package journaltest

import (
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var fencingLaws = []law{
	{"ANewClaimFencesTheOlderOne", func(e *env) {
		j := e.journal()
		older := e.writer(j, "x")
		older.append("a")
		newer := e.writer(j, "x")
		require.Greater(e, newer.claim.Epoch, older.claim.Epoch)
		require.Equal(e, uint64(1), newer.claim.LastSeq)
		require.ErrorIs(e, older.try(older.next("b")), journal.ErrFenced)
		newer.append("c")
		require.Equal(e, []string{"a", "c"}, e.payloads(j, "x"))
	}},
	{"AFencedWriterStaysFenced", func(e *env) {
		j := e.journal()
		older := e.writer(j, "x")
		newer := e.writer(j, "x")
		for i := range uint64(5) {
			for prev := range i + 2 {
				require.ErrorIs(e, older.try(request("x", older.claim.Epoch, prev, "b")), journal.ErrFenced)
			}
			require.ErrorIs(e, j.DeleteTo(e.Context(), "x", older.claim.Epoch, 1), journal.ErrFenced)
			newer.append("a")
		}
		require.Len(e, e.payloads(j, "x"), 5)
	}},
	{"AnEpochThatNobodyWasGivenIsFenced", func(e *env) {
		j := e.journal()
		require.ErrorIs(e, appendOne(e, j, request("x", 1, 0, "a")), journal.ErrFenced)
		require.ErrorIs(e, j.DeleteTo(e.Context(), "x", 1, 1), journal.ErrFenced)
		w := e.writer(j, "x")
		require.ErrorIs(e, w.try(request("x", w.claim.Epoch+1, 0, "a")), journal.ErrFenced)
		w.append("a")
	}},
	{"AClaimOfOneIDLeavesOthersAlone", func(e *env) {
		j := e.journal()
		x := e.writer(j, "x")
		e.writer(j, "xx")
		x.append("a")
	}},
	{"AWrongPreviousNumberIsAConflict", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		w.append(numbered("e", 5)...)
		for _, prev := range []uint64{0, 1, 3, 4, 6, 100} {
			require.ErrorIs(e, w.try(request("x", w.claim.Epoch, prev, "wrong", "wrong")), journal.ErrConflict, "after %d", prev)
		}
		w.append("next")
		require.Equal(e, append(numbered("e", 5), "next"), e.payloads(j, "x"))
	}},
	{"ConcurrentClaimsGetDistinctEpochs", func(e *env) {
		j := e.journal()
		const n = 64
		claims := make([]journal.Claim, n)
		errs := make([]error, n)
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() { claims[i], errs[i] = j.Claim(e.Context(), "x", journal.WriterID{byte(i)}, journal.Bounds{}) })
		}
		all.Wait()
		epochs := map[uint64]bool{}
		for i := range n {
			require.NoError(e, errs[i])
			epochs[claims[i].Epoch] = true
		}
		require.Len(e, epochs, n)
	}},
}
