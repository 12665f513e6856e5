package journaltest

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

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
