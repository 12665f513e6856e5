package journaltest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var boundsLaws = []law{
	{"AClaimTakesTheLeastEpochOrTheNext", func(e *env) {
		j := e.journal()
		older := e.writer(j, "x")
		older.append("a")
		high := e.writerWithin(j, journal.Bounds{Least: older.claim.Epoch + 1<<40})
		require.Equal(e, older.claim.Epoch+1<<40, high.claim.Epoch)
		require.Equal(e, uint64(1), high.claim.LastSeq)
		require.ErrorIs(e, older.try(older.next("b")), journal.ErrFenced)
		high.append("b")
		for _, least := range []uint64{0, 1, high.claim.Epoch} {
			next := e.writerWithin(j, journal.Bounds{Least: least})
			require.Greater(e, next.claim.Epoch, high.claim.Epoch, "from %d on", least)
			require.ErrorIs(e, high.try(high.next("c")), journal.ErrFenced)
			high = next
		}
		require.Greater(e, e.writer(j, "x").claim.Epoch, high.claim.Epoch, "without bounds")
		require.Equal(e, []string{"a", "b"}, e.payloads(j, "x"))
		for _, r := range e.read(j, "x", 2, 2) {
			require.Equal(e, older.claim.Epoch+1<<40, r.Epoch)
		}
	}},
	{"BoundsWithoutAnEpochAreInvalid", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		for _, b := range []journal.Bounds{
			{Least: math.MaxInt64 + 1},
			{Least: math.MaxUint64},
			{Below: 1},
			{Least: 7, Below: 7},
			{Least: 8, Below: 7},
			{Least: math.MaxInt64 + 1, Below: math.MaxUint64},
		} {
			for _, id := range []string{"x", "new"} {
				requireInvalid(e, j, id, b)
			}
		}
		w.append("nothing has changed")
		require.Equal(e, uint64(1), e.writer(j, "new").claim.Epoch, "it was not claimed")
	}},
	{"WhereNoEpochIsLeftAClaimIsInvalid", func(e *env) {
		j := e.journal()
		low := e.writerWithin(j, journal.Bounds{Least: 9, Below: 10})
		for _, b := range []journal.Bounds{{Below: 10}, {Least: 9, Below: 10}} {
			requireInvalid(e, j, "x", b)
		}
		low.append("nothing has changed")
		last := e.writerWithin(j, journal.Bounds{Least: math.MaxInt64})
		for _, b := range []journal.Bounds{{}, {Least: 1}, {Least: math.MaxInt64}, {Below: math.MaxInt64 + 1}, {Below: math.MaxUint64}} {
			requireInvalid(e, j, "x", b)
		}
		last.append("the last one goes on")
	}},
	{"AClaimOfAnEarlierGenerationIsRefused", func(e *env) {
		j := e.journal()
		older := e.writerWithin(j, generationBounds(1))
		older.append("a")
		newer := e.writerWithin(j, generationBounds(3))
		require.Equal(e, uint64(3<<32), newer.claim.Epoch)
		for generation := range uint64(3) {
			for range 2 {
				requireOvertaken(e, j, generationBounds(generation), newer.claim.Epoch)
			}
		}
		requireOvertaken(e, j, journal.Bounds{Below: newer.claim.Epoch}, newer.claim.Epoch)
		require.ErrorIs(e, older.try(older.next("b")), journal.ErrFenced)
		newer.append("b")
		require.Equal(e, newer.claim.Epoch+1, e.writerWithin(j, generationBounds(3)).claim.Epoch, "refused claims take no epoch")
		require.Equal(e, []string{"a", "b"}, e.payloads(j, "x"))
	}},
	{"AClaimWhoseAnswerWasLostIsRepeatedWithinItsBounds", func(e *env) {
		j := e.journal()
		lost := e.writerWithin(j, generationBounds(5))
		again := e.writerWithin(j, generationBounds(5))
		require.Greater(e, again.claim.Epoch, lost.claim.Epoch)
		require.ErrorIs(e, lost.try(lost.next("a")), journal.ErrFenced)
		again.append("a")
		newer := e.writerWithin(j, generationBounds(6))
		requireOvertaken(e, j, generationBounds(5), newer.claim.Epoch)
		newer.append("b")
		require.Equal(e, []string{"a", "b"}, e.payloads(j, "x"))
	}},
	{"AFencedWriterLearnsTheNewestEpoch", func(e *env) {
		j := e.journal()
		older := e.writerWithin(j, generationBounds(1))
		older.append("a")
		newer := e.writerWithin(j, generationBounds(2))
		epoch := older.claim.Epoch
		refused := []error{older.try(older.next("b")), j.DeleteTo(e.Context(), "x", epoch, 1)}
		if store, ok := journal.As[journal.SnapshotStore](j); ok {
			refused = append(refused, store.SaveSnapshot(e.Context(), "x", journal.Snapshot{Seq: 1, Epoch: epoch}),
				store.DeleteSnapshots(e.Context(), "x", epoch, 1, 0))
		}
		for _, err := range refused {
			fenced := requireFenced(e, err)
			require.Equal(e, []uint64{epoch, 0, newer.claim.Epoch}, []uint64{fenced.Epoch, fenced.Below, fenced.Newest})
		}
		fenced := requireFenced(e, appendOne(e, j, request("new", 7, 0, "a")))
		require.Equal(e, []uint64{7, 0, 0}, []uint64{fenced.Epoch, fenced.Below, fenced.Newest})
	}},
	{"ConcurrentClaimsWithinBoundsGetDistinctEpochs", func(e *env) {
		j := e.journal()
		const n = 64
		epochs := make([]uint64, n)
		errs := make([]error, n)
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				claim, err := j.Claim(e.Context(), "x", journal.WriterID{byte(i)}, generationBounds(2))
				epochs[i], errs[i] = claim.Epoch, err
			})
		}
		all.Wait()
		require.NoError(e, errors.Join(errs...))
		slices.Sort(epochs)
		require.Len(e, slices.Compact(epochs), n)
		require.GreaterOrEqual(e, epochs[0], uint64(2<<32))
		require.Less(e, epochs[n-1], uint64(3<<32))
	}},
	{"AClaimNeverGoesBackToAnEarlierGeneration", func(e *env) {
		j := e.journal()
		e.claimRace(j, j)
	}},
	{"AClaimNeverGoesBackOverTwoHandles", func(e *env) {
		e.need(e.features.SecondHandle != nil, "SecondHandle")
		j := e.journal()
		e.claimRace(j, e.features.SecondHandle(e.T, j))
	}},
	{"BoundsHoldAfterReopening", func(e *env) {
		j := e.reopenable()
		before := e.writerWithin(j, generationBounds(1<<8))
		j = e.features.Reopen(e.T, j)
		requireOvertaken(e, j, generationBounds(1<<8-1), before.claim.Epoch)
		require.Equal(e, before.claim.Epoch+1, e.writerWithin(j, generationBounds(1<<8)).claim.Epoch)
		require.Equal(e, before.claim.Epoch+2, e.writer(j, "x").claim.Epoch)
	}},
}

func generationBounds(g uint64) journal.Bounds {
	return journal.Bounds{Least: g << 32, Below: (g + 1) << 32}
}

// claimRace lets writers of generations from 1 to 8 claim at once, in random order and through
// alternating handles. After a claim of one generation has succeeded, no claim of a lower one that
// begins later may succeed: each writer that has succeeded tries one, and so do the others by
// chance.
func (e *env) claimRace(handles ...journal.Journal) {
	const generations, each = 8, 8
	rng := e.rand()
	var order []uint64
	for g := range uint64(generations) {
		order = append(order, slices.Repeat([]uint64{g + 1}, each)...)
	}
	rng.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })

	var highest atomic.Uint64 // generation of which a claim has succeeded
	var mu sync.Mutex         // guards epochs
	var epochs []uint64
	errs, wrong := make([]error, len(order)), make([]error, len(order))
	var all sync.WaitGroup
	turns := make(chan struct{}, generations)
	for i, g := range order {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			handle := handles[i%len(handles)]
			before := highest.Load()
			claim, err := handle.Claim(e.Context(), "x", journal.WriterID{byte(i)}, generationBounds(g))
			if err != nil {
				errs[i] = err
				return
			}
			if g < before || claim.Epoch>>32 != g {
				wrong[i] = fmt.Errorf("a claim of generation %d has epoch %d, after one of generation %d has succeeded", g, claim.Epoch, before)
			}
			for was := highest.Load(); was < g && !highest.CompareAndSwap(was, g); was = highest.Load() {
			}
			switch _, err := handle.Claim(e.Context(), "x", journal.WriterID{byte(i)}, generationBounds(g-1)); {
			case err == nil:
				wrong[i] = fmt.Errorf("a claim of generation %d succeeds after one of generation %d has succeeded", g-1, g)
			case !errors.Is(err, journal.ErrFenced):
				wrong[i] = err
			}
			mu.Lock()
			defer mu.Unlock()
			epochs = append(epochs, claim.Epoch)
		})
	}
	all.Wait()
	require.NoError(e, errors.Join(wrong...))
	for i, err := range errs {
		if err != nil {
			fenced := requireFenced(e, err)
			require.Equal(e, (order[i]+1)<<32, fenced.Below)
			require.GreaterOrEqual(e, fenced.Newest, fenced.Below)
		}
	}
	slices.Sort(epochs)
	require.Len(e, slices.Compact(slices.Clone(epochs)), len(epochs), "an epoch was given out twice")
	newest := epochs[len(epochs)-1]
	require.Equal(e, uint64(generations), newest>>32)
	w := &writer{e: e, j: handles[0], id: "x", claim: journal.Claim{Epoch: newest}}
	w.append("the newest claim is the highest")
}

func (e *env) writerWithin(j journal.Journal, b journal.Bounds) *writer {
	e.Helper()
	const id = "x"
	claim, err := j.Claim(e.Context(), id, journal.WriterID{byte(len(id))}, b)
	require.NoError(e, err)
	require.GreaterOrEqual(e, claim.Epoch, b.Least)
	if b.Below != 0 {
		require.Less(e, claim.Epoch, b.Below)
	}
	return &writer{e: e, j: j, id: id, claim: claim, last: claim.LastSeq}
}

// requireOvertaken requires that a claim of "x" is refused, because the newest claim is beyond b.
func requireOvertaken(e *env, j journal.Journal, b journal.Bounds, newest uint64) {
	e.Helper()
	_, err := j.Claim(e.Context(), "x", journal.WriterID{}, b)
	fenced := requireFenced(e, err)
	require.Equal(e, []uint64{0, b.Below, newest}, []uint64{fenced.Epoch, fenced.Below, fenced.Newest})
}

func requireFenced(e *env, err error) *journal.FencedError {
	e.Helper()
	require.ErrorIs(e, err, journal.ErrFenced)
	var fenced *journal.FencedError
	require.ErrorAs(e, err, &fenced)
	return fenced
}

func requireInvalid(e *env, j journal.Journal, id string, b journal.Bounds) {
	e.Helper()
	_, err := j.Claim(e.Context(), id, journal.WriterID{}, b)
	require.ErrorIs(e, err, journal.ErrInvalid, "%+v", b)
	require.NotErrorIs(e, err, journal.ErrFenced)
}
