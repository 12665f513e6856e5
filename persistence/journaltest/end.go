package journaltest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var endLaws = []law{
	{"ACallThatWasCancelledBeforeStoresNothing", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		w.append("a")
		ctx, cancel := context.WithCancel(e.Context())
		cancel()
		_, err := j.Claim(ctx, "x", journal.WriterID{}, journal.Bounds{})
		requireCalledOff(e, err, context.Canceled)
		requireCalledOff(e, j.Append(ctx, []journal.AppendRequest{w.next("b")})[0], context.Canceled)
		requireCalledOff(e, j.DeleteTo(ctx, "x", w.claim.Epoch, 1), context.Canceled)
		for _, err := range j.Read(ctx, "x", 1, 1) {
			requireCalledOff(e, err, context.Canceled)
		}
		w.append("c")
		require.Equal(e, []string{"a", "c"}, e.payloads(j, "x"))
	}},
	{"AReadEndsWithItsContext", func(e *env) {
		j := e.journal()
		e.writer(j, "x").append(numbered("e", 2000)...)
		ctx, cancel := context.WithCancel(e.Context())
		defer cancel()
		var last error
		seen := 0
		for _, last = range j.Read(ctx, "x", 1, everything) {
			seen++
			cancel()
		}
		requireCalledOff(e, last, context.Canceled)
		require.Less(e, seen, 2000)
	}},
	{"AStalledJournalAnswersWithTheContext", func(e *env) {
		e.need(e.features.Stall != nil, "Stall")
		j := e.journal()
		w := e.writer(j, "x")
		release := e.features.Stall(e.T, j)
		ctx, cancel := context.WithTimeout(e.Context(), 50*time.Millisecond)
		defer cancel()
		req := w.next("a")
		err := j.Append(ctx, []journal.AppendRequest{req})[0]
		require.ErrorIs(e, err, context.DeadlineExceeded)
		definite := errors.Is(err, journal.ErrUnavailable)
		require.True(e, definite || errors.Is(err, journal.ErrUnknown), "%v", err)
		release()
		if definite {
			require.Zero(e, e.writer(j, "y").last) // calls in progress have ended
			require.Empty(e, e.payloads(j, "x"))
		}
		require.NoError(e, w.try(req), "the very same request settles it")
		require.Equal(e, []string{"a"}, e.payloads(j, "x"))
	}},
	{"AFullStoreSaysSoAndGoesOnWhenThereIsSpace", func(e *env) {
		e.need(e.features.Fill != nil, "Fill")
		j := e.journal()
		w := e.writer(j, "x")
		w.append("a")
		free := e.features.Fill(e.T, j)
		large := w.next(string(make([]byte, 1<<20)))
		require.ErrorIs(e, w.try(large), journal.ErrFull)
		require.Equal(e, []string{"a"}, e.payloads(j, "x"))
		free()
		require.NoError(e, w.try(large))
		w.last++
		w.append("b")
		require.Len(e, e.payloads(j, "x"), 3)
	}},
	{"AClosedJournalSaysSo", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		w.append("a")
		require.NoError(e, j.Close())
		require.NoError(e, j.Close(), "closing again does nothing")
		_, err := j.Claim(e.Context(), "x", journal.WriterID{}, journal.Bounds{})
		require.ErrorIs(e, err, journal.ErrClosed)
		require.ErrorIs(e, w.try(w.next("b")), journal.ErrClosed)
		require.ErrorIs(e, j.DeleteTo(e.Context(), "x", w.claim.Epoch, 1), journal.ErrClosed)
		for _, err := range j.Read(e.Context(), "x", 1, 1) {
			require.ErrorIs(e, err, journal.ErrClosed)
		}
	}},
	{"ReadsUnderWayEndWhenTheJournalIsClosed", func(e *env) {
		j := e.journal()
		e.writer(j, "x").append(numbered("e", 1000)...)
		const n = 8
		errs := make([]error, n)
		started := make(chan struct{}, n)
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				for round := 0; errs[i] == nil; round++ {
					for _, errs[i] = range j.Read(e.Context(), "x", 1, everything) {
					}
					if round == 0 {
						started <- struct{}{}
					}
				}
			})
		}
		for range n {
			<-started
		}
		require.NoError(e, j.Close())
		all.Wait()
		for _, err := range errs {
			require.ErrorIs(e, err, journal.ErrClosed)
		}
	}},
	{"AppendsUnderWayEndWhenTheJournalIsClosed", func(e *env) {
		j := e.journal()
		const n = 16
		acked := make([]uint64, n)
		errs := make([]error, n)
		started := make(chan struct{}, n)
		var all sync.WaitGroup
		for i := range n {
			w := e.writer(j, fmt.Sprint(i))
			all.Go(func() {
				for errs[i] == nil {
					if errs[i] = w.try(w.next("a")); errs[i] == nil {
						w.last++
						acked[i] = w.last
					}
					if w.last <= 1 {
						started <- struct{}{}
					}
				}
			})
		}
		for range n {
			<-started
		}
		require.NoError(e, j.Close())
		all.Wait()
		for _, err := range errs {
			require.True(e, errors.Is(err, journal.ErrClosed) || errors.Is(err, journal.ErrUnknown), "%v", err)
		}
		if e.features.Reopen == nil {
			return
		}
		j = e.features.Reopen(e.T, j)
		for i := range n {
			last := e.writer(j, fmt.Sprint(i)).last
			require.GreaterOrEqual(e, last, acked[i])
			require.LessOrEqual(e, last, acked[i]+1)
		}
	}},
}

// requireCalledOff requires the answer to a call that has had no effect.
func requireCalledOff(e *env, err, reason error) {
	e.Helper()
	require.ErrorIs(e, err, journal.ErrUnavailable)
	require.ErrorIs(e, err, reason)
}
