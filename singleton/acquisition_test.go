package singleton

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton/internal/handover"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit"
)

func leasedOn(s *actor.System, name string, l lease.Lease) {
	idle := func(_ *actor.Context[string], next *actor.Next[string]) {
		next.OnMessage = func(*actor.Context[string], string) actor.Behavior[string] { return nil }
	}
	actor.Spawn(s, New(func() actor.Behavior[string] { return idle }, WithLease(l)), name)
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
			core, lines := observer.New(zap.WarnLevel)
			s := testkit.NewSystem(t, actor.WithLogger(zap.New(core)))
			leasedOn(s, "one", panickyLease{l, released})
			synctest.Wait()
			require.True(t, l.Valid())
			require.NoError(t, s.Shutdown(t.Context()))
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
		core, lines := observer.New(zap.ErrorLevel)
		s := testkit.NewSystem(t, actor.WithLogger(zap.New(core)))
		leasedOn(s, "one", l)
		synctest.Wait() // the first has the lease, whichever actor the scheduler prefers
		leasedOn(s, "two", l)
		synctest.Wait()
		require.Len(t, lines.All(), 1)
		require.Regexp(t, "singleton: lease x of a is used by understudy://.*/user/one.*; give every manager its own, also for another singleton and on another node of the same process",
			fmt.Sprint(lines.All()[0].ContextMap()))
	})
}

func TestAJournalOfTermsIsAskedForSoLongOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan handover.Event, 1)
		claimTerm(t.Context(), silentJournal{}, "x", handover.ClaimTerm{Number: 3}, func(ev handover.Event) { answers <- ev })
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
