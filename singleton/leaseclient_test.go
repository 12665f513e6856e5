package singleton

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/internal/guardedlease"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton/internal/handover"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit"
)

// A slowLease answers an AcquireAbove when it is let to, whatever its context says, and
// has won.
type slowLease struct {
	lease.Lease
	answer chan struct{}

	mu    sync.Mutex // guards calls
	calls []string
}

func (l *slowLease) note(call string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, call)
}

func (l *slowLease) AcquireAbove(context.Context, uint64) (bool, error) {
	l.note("asked")
	<-l.answer
	l.note("won")
	return true, nil
}

func (l *slowLease) Release(context.Context) error { l.note("released"); return nil }

func (l *slowLease) Token() uint64 { return 1 }

func (l *slowLease) OnLost(func(error)) func() { return func() {} }

func (l *slowLease) String() string { return "slow" }

func openLeaseClient(t *testing.T, l lease.Lease) (*leaseClient, chan handover.Event) {
	answers := make(chan handover.Event, 10)
	k := &leaseClient{ctx: t.Context(), system: testkit.NewSystem(t), measured: &measured{}, lease: guardedlease.New(l), answer: func(ev handover.Event) { answers <- ev }}
	k.open("a manager")
	return k, answers
}

// A release that overtook the question before it would leave a lease that nobody knows of,
// and that is renewed for ever.
func TestALeaseIsGivenBackAfterTheQuestionThatMayHaveWonIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slowLease{answer: make(chan struct{})}
		k, answers := openLeaseClient(t, l)
		k.acquire(t.Context(), handover.AcquireLease{Number: 1})
		k.release()
		synctest.Wait()
		require.Empty(t, answers)
		close(l.answer)
		require.Equal(t, handover.LeaseAnswered{Number: 1, Held: true, Token: 1}, <-answers)
		require.Equal(t, handover.LeaseReleased{}, <-answers)
		require.Equal(t, []string{"asked", "won", "released"}, l.calls)
	})
}

func TestAManagerThatEndsWhileItAcquiresGivesBackWhatItWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slowLease{answer: make(chan struct{})}
		k, _ := openLeaseClient(t, l)
		k.acquire(t.Context(), handover.AcquireLease{Number: 1})
		start := time.Now()
		k.close(zap.NewNop())
		require.Equal(t, 2*releasePatience, time.Since(start), "no manager waits for ever")
		close(l.answer)
		synctest.Wait()
		require.Equal(t, []string{"asked", "won", "released"}, l.calls)
	})
}

func TestAManagerThatEndsWhileItAcquiresWaitsForNothingWithALeaseThatKeepsItsContract(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lease.NewMemory()
		store.SetDelay(2 * time.Second)
		k, answers := openLeaseClient(t, store.Lease("x", "a", 30*time.Second))
		k.acquire(t.Context(), handover.AcquireLease{Number: 1})
		k.close(zap.NewNop())
		require.Error(t, (<-answers).(handover.LeaseAnswered).Err)
		time.Sleep(time.Minute)
		require.Empty(t, store.Inspect("x").Holder)
	})
}

// A panickyLease panics in Release, before or after it has released.
type panickyLease struct {
	lease.Lease
	releases bool
}

func (l panickyLease) Release(ctx context.Context) error {
	if l.releases {
		_ = l.Lease.Release(ctx)
	}
	panic("no connection")
}

func TestTheLogSaysWhetherALeaseWhoseReleaseFailsIsStillHeld(t *testing.T) {
	for released, says := range map[bool]string{
		false: "lease not released; it is still valid, and others get it only when this process ends",
		true:  "lease not released; it has to expire",
	} {
		synctest.Test(t, func(t *testing.T) {
			l := lease.NewMemory().Lease("x", "a", 30*time.Second)
			k, answers := openLeaseClient(t, panickyLease{l, released})
			k.acquire(t.Context(), handover.AcquireLease{Number: 1})
			require.True(t, (<-answers).(handover.LeaseAnswered).Held)
			core, lines := observer.New(zap.WarnLevel)
			k.close(zap.New(core))
			require.Equal(t, says, lines.All()[0].Message)
			time.Sleep(time.Hour)
			require.Equal(t, !released, l.Valid())
			require.NoError(t, l.Release(t.Context()))
		})
	}
}

func TestTwoManagersCannotUseOneLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := lease.NewMemory().Lease("x", "a", 30*time.Second)
		k, _ := openLeaseClient(t, l)
		other := &leaseClient{ctx: t.Context(), measured: &measured{}, lease: guardedlease.New(l)}
		require.PanicsWithValue(t,
			"singleton: lease x of a is used by a manager; give every manager its own, also for another singleton and on another node of the same process",
			func() { other.open("another") })
		k.close(zap.NewNop())
		other.open("another, later")
		other.close(zap.NewNop())
	})
}

func TestAJournalOfTermsIsAskedForSoLongOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan handover.Event, 1)
		k := &leaseClient{ctx: t.Context(), terms: silentJournal{}, answer: func(ev handover.Event) { answers <- ev }}
		k.claim("x", handover.ClaimTerm{Number: 3})
		got := (<-answers).(handover.TermClaimed)
		require.ErrorIs(t, got.Err, context.DeadlineExceeded)
		require.EqualValues(t, 3, got.Number)
	})
}

type silentJournal struct{ journal.Journal }

func (silentJournal) Claim(ctx context.Context, _ string, _ journal.WriterID, _ journal.Bounds) (journal.Claim, error) {
	<-ctx.Done()
	return journal.Claim{}, ctx.Err()
}
