package journaltest

import (
	"fmt"
	"math"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
)

var floorLaws = []law{
	{"AClaimTakesTheFloorOrTheNextEpoch", func(e *env) {
		j := e.journal()
		older := e.writer(j, "x")
		older.append("a")
		high := e.writerAtLeast(j, older.claim.Epoch+1<<40)
		require.Equal(e, older.claim.Epoch+1<<40, high.claim.Epoch)
		require.Equal(e, uint64(1), high.claim.LastSeq)
		require.ErrorIs(e, older.try(older.next("b")), persistence.ErrFenced)
		high.append("b")
		for _, floor := range []uint64{0, 1, high.claim.Epoch} {
			next := e.writerAtLeast(j, floor)
			require.Greater(e, next.claim.Epoch, high.claim.Epoch, "with the floor %d", floor)
			require.ErrorIs(e, high.try(high.next("c")), persistence.ErrFenced)
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
		f := e.floors(j)
		w := e.writer(j, "x")
		for _, floor := range []uint64{math.MaxInt64 + 1, math.MaxUint64} {
			for _, id := range []string{"x", "new"} {
				_, err := f.ClaimAtLeast(e.Context(), id, persistence.WriterID{}, floor)
				require.ErrorIs(e, err, persistence.ErrInvalid)
			}
		}
		w.append("nothing has changed")
		last := e.writerAtLeast(j, math.MaxInt64)
		for _, floor := range []uint64{0, 1, math.MaxInt64} {
			_, err := f.ClaimAtLeast(e.Context(), "x", persistence.WriterID{}, floor)
			require.ErrorIs(e, err, persistence.ErrInvalid)
		}
		_, err := j.Claim(e.Context(), "x", persistence.WriterID{})
		require.ErrorIs(e, err, persistence.ErrInvalid)
		last.append("the last one goes on")
		require.Equal(e, uint64(1), e.writer(j, "new").claim.Epoch, "it was not claimed")
	}},
	{"ConcurrentClaimsOfOneFloorGetDistinctEpochs", func(e *env) {
		j := e.journal()
		f := e.floors(j)
		const n, floor = 64, 1 << 33
		epochs := make([]uint64, n)
		errs := make([]error, n)
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				claim, err := f.ClaimAtLeast(e.Context(), "x", persistence.WriterID{byte(i)}, floor)
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

// floors returns j as the journal that it is if its claims can skip epochs.
func (e *env) floors(j persistence.Journal) persistence.FloorClaimer {
	e.Helper()
	f, ok := j.(persistence.FloorClaimer)
	if !ok {
		e.skip(fmt.Sprintf("%T is not a FloorClaimer", j))
	}
	return f
}

// writerAtLeast claims "x" under floor or a later epoch.
func (e *env) writerAtLeast(j persistence.Journal, floor uint64) *writer {
	e.Helper()
	const id = "x"
	claim, err := e.floors(j).ClaimAtLeast(e.Context(), id, persistence.WriterID{byte(len(id))}, floor)
	require.NoError(e, err)
	require.GreaterOrEqual(e, claim.Epoch, floor)
	return &writer{e: e, j: j, id: id, claim: claim, last: claim.LastSeq}
}
