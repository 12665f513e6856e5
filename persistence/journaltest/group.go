package journaltest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var groupLaws = []law{
	{"ARefusedRequestDoesNotFailItsNeighbours", func(e *env) {
		j := e.journal()
		fenced := e.writer(j, "fenced")
		e.writer(j, "fenced")
		good := e.writer(j, "good")
		last := e.writer(j, "last")
		invalid := last.next("x")
		invalid.ID = ""
		errs := j.Append(e.Context(), []journal.AppendRequest{
			fenced.next("no"), good.next("yes", "yes"), request("good", good.claim.Epoch, 7, "no"), invalid, last.next("yes"),
		})
		require.Len(e, errs, 5)
		require.ErrorIs(e, errs[0], journal.ErrFenced)
		require.NoError(e, errs[1])
		require.ErrorIs(e, errs[2], journal.ErrConflict)
		require.ErrorIs(e, errs[3], journal.ErrInvalid)
		require.NoError(e, errs[4])
		require.Empty(e, e.payloads(j, "fenced"))
		require.Equal(e, []string{"yes", "yes"}, e.payloads(j, "good"))
		require.Equal(e, []string{"yes"}, e.payloads(j, "last"))
	}},
	{"ATooLargeRecordDoesNotFailItsNeighbours", func(e *env) {
		e.need(e.features.MaxPayload > 0, "MaxPayload")
		j := e.journal()
		large, good := e.writer(j, "large"), e.writer(j, "good")
		errs := j.Append(e.Context(), []journal.AppendRequest{
			large.next("fine", strings.Repeat("x", e.features.MaxPayload+1)), good.next("yes"),
		})
		require.ErrorIs(e, errs[0], journal.ErrTooLarge)
		require.NoError(e, errs[1])
		large.append("small")
		require.Equal(e, []string{"small"}, e.payloads(j, "large"))
	}},
	{"RequestsOfOneIDInOneCallKeepTheirOrder", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		var reqs []journal.AppendRequest
		for i := range 20 {
			reqs = append(reqs, w.next(fmt.Sprint(i)))
			w.last++
		}
		for _, err := range j.Append(e.Context(), reqs) {
			require.NoError(e, err)
		}
		for i, p := range e.payloads(j, "x") {
			require.Equal(e, fmt.Sprint(i), p)
		}
		require.Len(e, e.payloads(j, "x"), 20)
	}},
	{"ResultsAreInTheOrderOfTheRequests", func(e *env) {
		j := e.journal()
		rng := e.rand()
		for round := range 20 {
			var reqs []journal.AppendRequest
			var want []error
			for i := range 10 {
				w := e.writer(j, fmt.Sprintf("%d-%d", round, i))
				if i%2 == 0 {
					reqs, want = append(reqs, w.next("a")), append(want, nil)
				} else {
					reqs, want = append(reqs, request(w.id, w.claim.Epoch, 3, "a")), append(want, journal.ErrConflict)
				}
			}
			rng.Shuffle(len(reqs), func(a, b int) { reqs[a], reqs[b], want[a], want[b] = reqs[b], reqs[a], want[b], want[a] })
			for i, err := range j.Append(e.Context(), reqs) {
				require.ErrorIs(e, err, want[i], "request %d", i)
			}
		}
	}},
	{"NoRequestsAreNoWork", func(e *env) {
		require.Empty(e, e.journal().Append(e.Context(), nil))
	}},
}

// rand returns numbers that a later run can repeat.
func (e *env) rand() *rand.Rand {
	seed := e.features.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	e.Logf("Features.Seed: %d", seed)
	return rand.New(rand.NewPCG(seed, seed))
}

// asyncLaws hold at once for journals that are no [journal.AsyncJournal].
var asyncLaws = []law{
	{"AnAppendThatNobodyWaitsForIsAnsweredOnce", func(e *env) {
		j := e.journal()
		async, ok := j.(journal.AsyncJournal)
		if !ok {
			return
		}
		w, fenced := e.writer(j, "async"), e.writer(j, "fenced")
		e.writer(j, "fenced")
		outcome := make(chan error, 2)
		begin := func(req journal.AppendRequest) error {
			call := async.AppendAsync(req, func(err error) { outcome <- err })
			err := <-outcome
			if call != nil {
				call.Cancel(context.Canceled) // too late
			}
			return err
		}
		require.NoError(e, begin(w.next("a", "b")))
		w.last += 2
		require.ErrorIs(e, begin(fenced.next("no")), journal.ErrFenced)
		require.ErrorIs(e, begin(journal.AppendRequest{}), journal.ErrInvalid)
		w.append("c")
		require.Equal(e, []string{"a", "b", "c"}, e.payloads(j, "async"))
		require.NoError(e, j.Close())
		require.ErrorIs(e, begin(w.next("d")), journal.ErrClosed)
		require.Empty(e, outcome)
	}},
	{"AnAppendThatNobodyWaitsForMayBeGivenUp", func(e *env) {
		j := e.journal()
		async, ok := j.(journal.AsyncJournal)
		if !ok {
			return
		}
		e.need(e.features.Stall != nil, "Stall")
		w := e.writer(j, "async")
		release := e.features.Stall(e.T, j)
		outcome := make(chan error, 1)
		async.AppendAsync(w.next("a"), func(err error) { outcome <- err }).Cancel(context.DeadlineExceeded)
		err := <-outcome
		release()
		require.ErrorIs(e, err, context.DeadlineExceeded)
		if stored := e.payloads(j, "async"); len(stored) > 0 {
			require.ErrorIs(e, err, journal.ErrUnknown)
		}
	}},
}
