package journaltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var concurrencyLaws = []law{
	{"ConcurrentWritersKeepTheirEventsApart", func(e *env) {
		j := e.journal()
		const writers, events = 32, 50
		errs := make([]error, writers)
		var all sync.WaitGroup
		for i := range writers {
			w := e.writer(j, fmt.Sprint("w", i))
			all.Go(func() {
				for n := 0; n < events && errs[i] == nil; n++ {
					errs[i] = w.try(w.next(fmt.Sprint(n)))
					w.last++
				}
			})
		}
		all.Wait()
		for i := range writers {
			require.NoError(e, errs[i])
			for n, p := range e.payloads(j, fmt.Sprint("w", i)) {
				require.Equal(e, fmt.Sprint(n), p)
			}
		}
	}},
	{"AFenceStormLosesNothing", func(e *env) {
		j := e.journal()
		e.fenceStorm(j, slices.Repeat([]journal.Journal{j}, 8))
	}},
	{"AFenceStormOverTwoHandlesLosesNothing", func(e *env) {
		e.need(e.features.SecondHandle != nil, "SecondHandle")
		j := e.journal()
		other := e.features.SecondHandle(e.T, j)
		e.fenceStorm(j, slices.Repeat([]journal.Journal{j, other}, 4))
	}},
	{"AWriterGetsInBesideBusyReaders", func(e *env) {
		j := e.journal()
		w := e.writer(j, "x")
		w.append(numbered("e", 1000)...)
		stop := e.readBeside(j, "x")
		defer stop()
		var worst time.Duration
		for range 50 {
			begin := time.Now()
			w.append("a")
			worst = max(worst, time.Since(begin))
		}
		e.Logf("the slowest of 50 appends took %v", worst)
		require.Less(e, worst, claimPatience)
	}},
	{"AClaimGetsInBesideABusyWriter", func(e *env) {
		j := e.journal()
		e.claimBeside(j, j)
	}},
	{"AClaimGetsInBesideABusyWriterOnAnotherHandle", func(e *env) {
		e.need(e.features.SecondHandle != nil, "SecondHandle")
		j := e.journal()
		e.claimBeside(j, e.features.SecondHandle(e.T, j))
	}},
}

// stormEvents is how many acknowledged events end a storm.
const stormEvents = 250

// fenceStorm lets one writer per handle claim the same id and append to it as fast as it can. It
// compares the acknowledged events with the stored ones.
func (e *env) fenceStorm(j journal.Journal, handles []journal.Journal) {
	ctx, cancel := context.WithCancel(e.Context())
	defer cancel()
	st := &storm{acked: make(chan string), again: make(chan struct{})}
	failed := make(chan error, len(handles))
	var all sync.WaitGroup
	for i, handle := range handles {
		all.Go(func() {
			if err := st.write(ctx, handle, i); err != nil {
				failed <- err
				cancel()
			}
		})
	}
	go func() { all.Wait(); close(st.acked); close(failed) }()
	counts := map[string]int{}
	for payload := range st.acked {
		if counts[payload]++; len(counts) == stormEvents {
			cancel()
		}
		select {
		case st.again <- struct{}{}:
		default: // nobody waits
		}
	}
	for err := range failed {
		require.NoError(e, err)
	}
	e.checkStorm(j, counts)
}

// A storm is the shared state of its writers. A fenced writer claims again after it sees an event
// of another writer, so there are about as many claims as events.
type storm struct {
	acked chan string
	again chan struct{}
}

func (st *storm) write(ctx context.Context, j journal.Journal, n int) error {
	calls := context.WithoutCancel(ctx)
	for round := 0; ctx.Err() == nil; round++ {
		claim, err := j.Claim(calls, "x", journal.WriterID{byte(n)}, journal.Bounds{})
		if err != nil {
			return err
		}
		if err := complete(calls, j, claim.LastSeq); err != nil {
			return err
		}
		for last := claim.LastSeq; ctx.Err() == nil && err == nil; last++ {
			payload := fmt.Sprintf("%d/%d/%d", n, round, last)
			if err = j.Append(calls, []journal.AppendRequest{request("x", claim.Epoch, last, payload)})[0]; err == nil {
				st.acked <- payload
			}
		}
		if err != nil && !errors.Is(err, journal.ErrFenced) {
			return err
		}
		select {
		case <-st.again:
		case <-ctx.Done():
		}
	}
	return nil
}

// complete checks that a read after a claim returns everything written before the claim.
func complete(ctx context.Context, j journal.Journal, last uint64) error {
	n := uint64(0)
	for _, err := range j.Read(ctx, "x", 1, last) {
		if err != nil {
			return err
		}
		n++
	}
	if n != last {
		return fmt.Errorf("the claim said %d records, there were %d", last, n)
	}
	return nil
}

func (e *env) checkStorm(j journal.Journal, acked map[string]int) {
	epoch := uint64(0)
	for _, r := range e.read(j, "x", 1, everything) {
		require.GreaterOrEqual(e, r.Epoch, epoch, "record %d", r.Seq)
		epoch = r.Epoch
		require.Equal(e, 1, acked[string(r.Payload)], "record %d, %s, was not acknowledged once", r.Seq, r.Payload)
		delete(acked, string(r.Payload))
	}
	require.Empty(e, acked, "acknowledged and lost")
	e.Logf("the last of the claims had epoch %d", epoch)
}

// readBeside starts readers that read id repeatedly until stop is called. Each reader completes its
// last read, because PgBouncer 1.18 crashes if several calls are cancelled at once.
func (e *env) readBeside(j journal.Journal, id string) (stop func()) {
	errs := make([]error, 4)
	started := make(chan struct{}, len(errs))
	var stopped atomic.Bool
	var readers sync.WaitGroup
	for i := range errs {
		readers.Go(func() {
			for round := 0; !stopped.Load() && errs[i] == nil; round++ {
				for _, errs[i] = range j.Read(e.Context(), id, 1, everything) {
				}
				if round == 0 {
					started <- struct{}{}
				}
			}
		})
	}
	for range errs {
		<-started
	}
	return func() {
		stopped.Store(true)
		readers.Wait()
		require.NoError(e, errors.Join(errs...))
	}
}

// claimPatience bounds claims and appends. It is generous: they normally take a few milliseconds.
const claimPatience = 2 * time.Second

func (e *env) claimBeside(busy, claimer journal.Journal) {
	started := make(chan struct{}, 8)
	var stop atomic.Bool
	var all sync.WaitGroup
	defer all.Wait()
	defer stop.Store(true)
	for i := range cap(started) {
		w := e.writer(busy, fmt.Sprint("busy-", i))
		all.Go(func() {
			for n := 0; !stop.Load() && w.try(w.next("a")) == nil; n++ {
				if w.last++; n == 0 {
					started <- struct{}{}
				}
			}
		})
	}
	for range cap(started) {
		<-started
	}
	var worst time.Duration
	for i := range 20 {
		begin := time.Now()
		_, err := claimer.Claim(e.Context(), fmt.Sprint("busy-", i%cap(started)), journal.WriterID{}, journal.Bounds{})
		require.NoError(e, err)
		worst = max(worst, time.Since(begin))
	}
	e.Logf("the slowest of 20 claims took %v", worst)
	require.Less(e, worst, claimPatience)
}
