package singleton

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/leaseholder"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// claimPatience limits one claim of a term.
const claimPatience = 10 * time.Second

// A managerLease is the lease of a manager; nil stands for none.
type managerLease struct {
	*leaseholder.Holder
	answer   func(handover.Event)
	measured *measured
}

// openLease returns the lease of m, if it has one. self is the text of its ref. It panics if
// another manager uses the lease, because both would then hold it.
func openLease(m *manager, self string) *managerLease {
	if m.set.lease == nil {
		return nil
	}
	l := &managerLease{answer: m.occur, measured: &m.registry.measured}
	l.Holder = leaseholder.New(leaseholder.Config{
		System: m.ctx.System(), User: self, Singleton: m.name, Reserve: true, Create: m.set.lease,
		Lost:    func(reason error) { l.answer(handover.LeaseLost{Reason: reason}) },
		Renewed: l.measured.renewals.Observe,
	})
	if err := l.Open(); err != nil {
		panic(fmt.Sprintf("singleton: %v; give every manager its own, also for another singleton and on another node of the same process", err))
	}
	return l
}

// missing reports whether the instance must not run, because the lease is not held.
func (l *managerLease) missing() bool { return l != nil && !l.Valid() }

// gate is the check that a leased instance makes before each message.
func (l *managerLease) gate() error {
	if l.Valid() {
		return nil
	}
	return ErrLeaseLost
}

func (l *managerLease) acquire(ctx context.Context, a handover.AcquireLease) {
	asked := time.Now()
	l.Acquire(ctx, a.Floor, func(got leaseholder.Answer) {
		l.measured.acquisitions.Observe(time.Since(asked))
		if errors.Is(got.Err, leaseholder.ErrLost) {
			got.Err = ErrLeaseLost
		}
		l.answer(handover.LeaseAnswered{Number: a.Number, Held: got.Held, Token: got.Token, Err: got.Err})
	})
}

func (l *managerLease) release() {
	l.Release(func(err error) { l.answer(handover.LeaseReleased{Err: err}) })
}

func (l *managerLease) close(log *zap.Logger) {
	if l != nil {
		l.logKept(log, l.Close())
	}
}

// logKept logs that the lease has not been released, unless err is nil.
func (l *managerLease) logKept(log *zap.Logger, err error) {
	if err != nil {
		log.Warn("lease not released; "+l.Outlook(), zap.Stringer("lease", l), zap.Error(err))
	}
}

// claimTerm takes a term: the epoch of a claim in the journal is greater than those of all before.
// It answers from a goroutine of its own.
func claimTerm(ctx context.Context, terms journal.Journal, name string, a handover.ClaimTerm, answer func(handover.Event)) {
	go func() {
		ctx, cancel := context.WithTimeout(ctx, claimPatience)
		defer cancel()
		var writer journal.WriterID
		_, _ = rand.Read(writer[:]) // it never fails
		ev := handover.TermClaimed{Number: a.Number}
		ev.Err = guard.Run(func() (err error) {
			claimed, err := terms.Claim(ctx, "singleton/"+name, writer, journal.Bounds{Least: a.Floor + 1})
			ev.Term = claimed.Epoch
			return err
		})
		answer(ev)
	}()
}
