package journaltest

import (
	"math"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var floorLaws = []law{
	{"AClaimTakesTheFloorOrTheNextEpoch", func(e *env) {
		j := e.journal()
		older := e.writer(j, "x")
		older.append("a")
		high := e.writerAtLeast(j, older.claim.Epoch+1<<40)
		require.Equal(e, older.claim.Epoch+1<<40, high.claim.Epoch)
		require.Equal(e, uint64(1), high.claim.LastSeq)
		require.ErrorIs(e, older.try(older.next("b")), journal.ErrFenced)
		high.append("b")
		for _, floor := range []uint64{0, 1, high.claim.Epoch} {
			next := e.writerAtLeast(j, floor)
			require.Greater(e, next.claim.Epoch, high.claim.Epoch, "with the floor %d", floor)
			require.ErrorIs(e, high.try(high.next("c")), journal.ErrFenced)
			high = next
		}
		require.Greater(e, e.writer(j, "x").claim.Epoch, high.claim.Epoch, "without a floor")
		require.Equal(e, []string{"a", "b"}, e.payloads(j, "x"))
		for _, r := range e.read(j, "x", 2, 2) {
			require.Equal(e, older.claim.Epoch+1<<40, r.Epoch)
		}
	}},
	{"AFloorBeyondTheEpochsIsInvalid", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		for _, floor := range []uint64{math.MaxInt64 + 1, math.MaxUint64} {
			for _, id := range []string{"x", "new"} {
				_, err := j.Claim(e.Context(), id, journal.WriterID{}, floor)
				require.ErrorIs(e, err, journal.ErrInvalid)
			}
		}
		w.append("nothing has changed")
		last := e.writerAtLeast(j, math.MaxInt64)
		for _, floor := range []uint64{0, 1, math.MaxInt64} {
			_, err := j.Claim(e.Context(), "x", journal.WriterID{}, floor)
			require.ErrorIs(e, err, journal.ErrInvalid)
		}
		_, err := j.Claim(e.Context(), "x", journal.WriterID{}, 0)
		require.ErrorIs(e, err, journal.ErrInvalid)
		last.append("the last one goes on")
		require.Equal(e, uint64(1), e.writer(j, "new").claim.Epoch, "it was not claimed")
	}},
	{"ConcurrentClaimsOfOneFloorGetDistinctEpochs", func(e *env) {
		j := e.journal()
		const n, floor = 64, 1 << 33
		epochs := make([]uint64, n)
		errs := make([]error, n)
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				claim, err := j.Claim(e.Context(), "x", journal.WriterID{byte(i)}, floor)
				epochs[i], errs[i] = claim.Epoch, err
			})
		}
		all.Wait()
		seen := map[uint64]bool{}
		for i := range n {
			require.NoError(e, errs[i])
			require.GreaterOrEqual(e, epochs[i], uint64(floor))
			seen[epochs[i]] = true
		}
		require.Len(e, seen, n)
	}},
	{"AFloorHoldsAfterReopening", func(e *env) {
		j := e.reopenable()
		before := e.writerAtLeast(j, 1<<40)
		j = e.features.Reopen(e.T, j)
		require.Greater(e, e.writer(j, "x").claim.Epoch, before.claim.Epoch)
	}},
}

// writerAtLeast claims "x" under floor or a later epoch.
func (e *env) writerAtLeast(j journal.Journal, floor uint64) *writer {
	e.Helper()
	const id = "x"
	claim, err := j.Claim(e.Context(), id, journal.WriterID{byte(len(id))}, floor)
	require.NoError(e, err)
	require.GreaterOrEqual(e, claim.Epoch, floor)
	return &writer{e: e, j: j, id: id, claim: claim, last: claim.LastSeq}
}
