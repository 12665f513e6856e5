package persistence_test

import (
	"context"
	"iter"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A deaf journal ignores its contexts: calls wait until it is released.
type deaf chan struct{}

func (d deaf) wait(_ context.Context, apply func() error) error {
	<-d
	return apply()
}

func (d deaf) read(records iter.Seq2[journal.Record, error]) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for r, err := range records {
			if r.Seq == 2 {
				<-d
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

const (
	logAbandoned = "call to the store abandoned: it continues after its context is done"
	logEnded     = "abandoned call to the store has ended"
)

// release lets all calls continue, and requires a log line for each.
func (d deaf) release(w *world, log *observer.ObservedLogs, calls int) {
	w.Helper()
	time.Sleep(time.Minute)
	close(d)
	synctest.Wait()
	for _, message := range []string{logAbandoned, logEnded} {
		lines := log.FilterMessage(message).All()
		require.Len(w, lines, calls, message)
		for _, line := range lines {
			fields := line.ContextMap()
			require.Equal(w, "words", fields["id"])
			require.Contains(w, fields["actor"], "/user/")
			require.NotEmpty(w, fields["call"])
		}
	}
}

func TestRecoveryEndsThoughTheJournalDoesNotListen(t *testing.T) {
	for name, test := range map[string]struct {
		hooks func(deaf) hooks
		seq   uint64
	}{
		"to a claim":            {func(d deaf) hooks { return hooks{claim: d.wait} }, 0},
		"to a snapshot":         {func(d deaf) hooks { return hooks{load: d.wait} }, 0},
		"amid the events":       {func(d deaf) hooks { return hooks{read: d.read} }, 1},
		"to any, with a backup": {func(d deaf) hooks { return hooks{claim: d.wait, load: d.wait, read: d.read} }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
				w.store("persistence_test.said", said{"a"}, said{"b"}, said{"c"})
				d := make(deaf)
				w.journal.set(test.hooks(d))
				begun := time.Now()
				failure := w.failsToRecover()
				require.Equal(w, 31*time.Second, time.Since(begun), "the default, and a second for the journal to listen")
				require.ErrorIs(w, failure, context.DeadlineExceeded)
				require.ErrorContains(w, failure, "too little progress within 30s")
				require.ErrorContains(w, failure, "abandoned")
				require.Equal(w, test.seq, failure.Seq)
				require.EqualValues(w, 31*time.Second, log.FilterMessage(logAbandoned).All()[0].ContextMap()["runningFor"])

				w.journal.set(hooks{})
				w.spawn().Tell(recall(w.to)) // while the call is still there
				w.expect("[abc]")
				d.release(w, log, 1)
			})
		})
	}
}

func TestAStopDuringRecoveryDoesNotWaitForAJournalThatDoesNotListen(t *testing.T) {
	inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
		d := make(deaf)
		w.journal.set(hooks{claim: d.wait})
		ctx, stop := context.WithCancel(w.Context())
		ref := actor.Spawn(w.system, words(w.journal), "", extension.WithContext(ctx))
		synctest.Wait()
		begun := time.Now()
		stop()
		w.replies.ExpectTerminated(ref)
		require.Equal(w, time.Second, time.Since(begun))
		d.release(w, log, 1)
	})
}

func TestRestartsDoNotAddAbandonedCallsWithoutEnd(t *testing.T) {
	inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
		d := make(deaf)
		w.journal.set(hooks{claim: d.wait})
		for range 4 {
			require.ErrorIs(w, w.failsToRecover(), context.DeadlineExceeded)
		}
		failure := w.failsToRecover()
		require.ErrorIs(w, failure, persistence.ErrUnavailable)
		require.ErrorContains(w, failure, "4 abandoned calls for this id")
		d.release(w, log, 4)
		w.journal.set(hooks{})
		w.spawn().Tell(recall(w.to))
		w.expect("[]")
	})
}

func TestAWriteEndsThoughTheJournalDoesNotListen(t *testing.T) {
	inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
		ref, failures := w.mortal(words(w.journal))
		ref.Tell(say(w.to, "a"))
		w.expect("a")
		d := make(deaf)
		w.journal.set(hooks{append: d.wait})
		begun := time.Now()
		ref.Tell(say(w.to, "b"))
		var failure error
		failures.Within(time.Hour, func() { failure = failures.Receive() })
		require.Equal(w, 31*time.Second, time.Since(begun))
		require.ErrorIs(w, failure, persistence.ErrUnknown)
		require.ErrorIs(w, failure, context.DeadlineExceeded)

		w.spawn().Tell(recall(w.to))
		w.expect("[a]")
		d.release(w, log, 1)
		require.Equal(w, "a", w.events(), "the newer claim has fenced off what was under way")
	})
}

func TestTheBackgroundDoesNotHoldUpAnEndThoughTheStoreDoesNotListen(t *testing.T) {
	for name, test := range map[string]struct{ hooks func(deaf) hooks }{
		"saving":    {func(d deaf) hooks { return hooks{save: d.wait} }},
		"reading":   {func(d deaf) hooks { return hooks{load: d.wait} }},
		"deletions": {func(d deaf) hooks { return hooks{delete: d.wait} }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
				ref := w.spawn(options{SnapshotEvery: 1, KeepSnapshots: 1, DeleteEvents: true})
				d := make(deaf)
				w.journal.set(test.hooks(d))
				ref.Tell(say(w.to, "a"))
				w.expect("a")
				begun := time.Now()
				w.replies.Within(time.Hour, func() { w.stop(ref) })
				require.Equal(w, 31*time.Second, time.Since(begun))
				d.release(w, log, 1)
			})
		})
	}
}

func TestADurableStateEndsThoughTheJournalDoesNotListen(t *testing.T) {
	inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
		d := make(deaf)
		w.journal.set(hooks{delete: d.wait})
		b := persistence.NewDurableState("words", persistence.Journal(w.journal), "",
			func(_ *actor.Context[string], _ persistence.State[string], text string) persistence.StateEffect[string] {
				if text == "stop" {
					return persistence.DeleteState[string]
				}
				return persistence.PersistState(text)
			})
		ctx, stop := context.WithCancel(w.Context())
		ref := actor.Spawn(w.system, b, "", extension.WithContext(ctx))
		ref.Tell("a")
		ref.Tell("stop")
		synctest.Wait()
		stop()
		begun := time.Now()
		w.replies.Within(time.Hour, func() { w.replies.ExpectTerminated(ref) })
		require.Equal(w, 31*time.Second, time.Since(begun))
		d.release(w, log, 1)
	})
}

// A call whose goroutine ends otherwise has an error still.
func TestACallWhoseGoroutineExitsIsAnError(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{claim: func(context.Context, func() error) error { panic("driver") }})
		require.ErrorContains(w, w.failsToRecover(), "driver")
		w.journal.set(hooks{claim: exits})
		require.ErrorContains(w, w.failsToRecover(), "ended without a result")
	})
}

func exits(context.Context, func() error) error {
	runtime.Goexit()
	return nil
}
