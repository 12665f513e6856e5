package persistence_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/permits"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A crowd counts the actors that recover at the same time; each takes a second.
type crowd struct {
	mu        sync.Mutex // guards all below
	now, peak int
	done      int
}

func (s *crowd) pass(ctx context.Context, apply func() error) error {
	s.mu.Lock()
	s.now++
	s.peak = max(s.peak, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.now--
		s.done++
	}()
	return slowly(ctx, apply)
}

func (s *crowd) counts() (peak, done int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak, s.done
}

// recovering spawns n actors of different ids.
func (w *world) recovering(n int, opts ...persistence.Option) {
	for i := range n {
		actor.Spawn(w.system, persistence.New(fmt.Sprint(i), w.journal, "", hear, obey, opts...), "")
	}
}

func TestFewActorsRecoverAtTheSameTime(t *testing.T) {
	inBubble(t, func(w *world) {
		persistence.LimitRecoveries(w.system, 3)
		var s crowd
		w.journal.set(hooks{claim: s.pass})
		begun := time.Now()
		w.recovering(100, options{RecoveryTimeout: 2 * time.Second}) // the wait does not count
		ref := actor.Spawn(w.system, words(w.journal), "")
		ref.Tell(recall(w.to))
		w.replies.Within(time.Hour, func() { w.replies.Expect("[]") })
		synctest.Wait()
		require.LessOrEqual(w, time.Since(begun), 34*time.Second)
		time.Sleep(time.Minute)
		peak, done := s.counts()
		require.Equal(w, 3, peak)
		require.Equal(w, 101, done)
	})
}

func TestFiftyRecoverAtTheSameTimeByDefault(t *testing.T) {
	inBubble(t, func(w *world) {
		var s crowd
		w.journal.set(hooks{claim: s.pass})
		w.recovering(120)
		time.Sleep(2*time.Second + time.Millisecond)
		synctest.Wait()
		peak, done := s.counts()
		require.Equal(w, 50, peak)
		require.Equal(w, 100, done)
		time.Sleep(time.Hour)
	})
}

// After each recovery, however it ends, another one follows.
func TestAPermitToRecoverComesBack(t *testing.T) {
	fail := func(end func() error) hooks {
		return hooks{claim: func(context.Context, func() error) error { time.Sleep(time.Second); return end() }}
	}
	for name, broken := range map[string]hooks{
		"error":       fail(func() error { return persistence.ErrClosed }),
		"unavailable": fail(func() error { return persistence.ErrUnavailable }),
		"panic":       fail(func() error { panic("driver") }),
		"goexit":      fail(func() error { runtime.Goexit(); return nil }),
		"read": {read: func(iter.Seq2[journal.Record, error]) iter.Seq2[journal.Record, error] {
			return func(func(journal.Record, error) bool) { panic("driver") }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				persistence.LimitRecoveries(w.system, 1)
				w.store("persistence_test.said", said{"a"})
				w.journal.set(broken)
				for range 3 {
					w.spawn()
				}
				time.Sleep(time.Hour)
				w.journal.set(hooks{})
				w.spawn().Tell(recall(w.to))
				w.replies.Expect("[a]")
			})
		})
	}
}

func TestAStopGivesUpTheWaitForAPermit(t *testing.T) {
	inBubble(t, func(w *world) {
		persistence.LimitRecoveries(w.system, 1)
		w.journal.set(hooks{claim: slowly})
		ctx, stop := context.WithCancel(w.Context())
		w.recovering(1)
		synctest.Wait()
		waiting := actor.Spawn(w.system, words(w.journal), "", extension.WithContext(ctx))
		synctest.Wait()
		begun := time.Now()
		stop()
		w.replies.ExpectTerminated(waiting)
		require.Zero(w, time.Since(begun))
		w.spawn().Tell(recall(w.to))
		w.replies.Expect("[]")
		require.Equal(w, 2*time.Second, time.Since(begun))
	})
}

// While an actor waits before it tries again, others may recover.
func TestWhoWaitsToTryAgainHoldsNobodyUp(t *testing.T) {
	inBubble(t, func(w *world) {
		persistence.LimitRecoveries(w.system, 1)
		w.journal.set(hooks{claim: answers(persistence.ErrUnavailable)})
		w.recovering(1, options{OnPersistFailure: actor.Backoff{Min: 10 * time.Second}})
		synctest.Wait()
		begun := time.Now()
		w.spawn().Tell(recall(w.to))
		w.replies.Expect("[]")
		require.Zero(w, time.Since(begun))
	})
}

func TestALimitThatIsNotPositivePanics(t *testing.T) {
	inBubble(t, func(w *world) {
		require.Panics(w, func() { persistence.LimitRecoveries(w.system, 0) })
	})
}

func TestThoseThatRecoverAreServedByClassInTurn(t *testing.T) {
	inBubble(t, func(w *world) {
		persistence.LimitRecoveries(w.system, 1)
		w.journal.set(hooks{claim: slowly})
		w.recovering(100)
		synctest.Wait()
		begun := time.Now()
		few := extension.WithContext(permits.WithClass(w.Context(), "few"))
		actor.Spawn(w.system, words(w.journal), "", few).Tell(recall(w.to))
		w.replies.Within(time.Hour, func() { w.replies.Expect("[]") })
		require.LessOrEqual(w, time.Since(begun), 3*time.Second, "after one of the others at most")
		time.Sleep(time.Hour)
	})
}
