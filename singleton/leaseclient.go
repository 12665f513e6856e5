package singleton

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/guardedlease"
	"github.com/understudy-go/understudy/internal/leasespan"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton/internal/handover"
	"github.com/understudy-go/understudy/singleton/lease"
)

// releasePatience limits how long other nodes wait for a lease to be released. After that the lease
// is released later, or expires.
const releasePatience = 5 * time.Second

// claimPatience limits one claim of a term.
const claimPatience = 10 * time.Second

// A leaseClient does what one manager needs outside the cluster. It acquires and releases the lease
// and claims terms, in goroutines of their own, and answers with events. Acquisitions and releases
// run one after the other: a release that overtook an acquisition would leave a lease that nobody
// knows of.
type leaseClient struct {
	ctx       context.Context // the manager's
	system    *actor.System
	singleton string          // its name
	by        string          // the path of the manager, the owner of what it claims
	lease     managedLease    // nil: none
	terms     journal.Journal // nil: the members agree
	answer    func(handover.Event)

	measured *measured

	cancel func()          // removes the handler of losses
	free   func()          // lets other managers use the lease
	halted atomic.Bool     // the lease must expire
	giveUp func()          // cancels the last acquisition; nil before the first
	turn   <-chan struct{} // closed when all steps begun so far are over
}

// A managedLease is a lease as managers use it. Its methods do not panic.
type managedLease interface {
	lease.Lease
	Reserve(by string) (free func(), err error) // fails if another manager uses it
	ObserveRenewals(f func(took time.Duration))
	Abandon() // as the end of the process would
}

// open begins to report losses of the lease. It panics if another manager uses the lease, because
// both would then hold it.
func (c *leaseClient) open(by string) {
	c.by = by
	if c.lease == nil {
		return
	}
	free, err := c.lease.Reserve(by)
	if err != nil {
		panic(fmt.Sprintf("singleton: %v; give every manager its own, also for another singleton and on another node of the same process", err))
	}
	c.free = free
	c.lease.ObserveRenewals(c.measured.renewals.Observe)
	c.cancel = c.lease.OnLost(func(reason error) { c.answer(handover.LeaseLost{Reason: reason}) })
}

// halt treats the lease as the end of the process would: it is neither renewed nor released.
func (c *leaseClient) halt() {
	c.halted.Store(true)
	if c.lease != nil {
		c.lease.Abandon()
	}
}

// close releases the lease and waits up to 10 s for the result.
func (c *leaseClient) close(log *zap.Logger) {
	if c.lease == nil {
		return
	}
	defer c.free()
	c.cancel()
	if c.giveUp == nil {
		return
	}
	var err error
	c.returning(func(failure error) { err = failure })
	patience := time.NewTimer(2 * releasePatience)
	defer patience.Stop()
	select {
	case <-c.turn:
	case <-patience.C:
		log.Warn("lease not released yet: it does not answer", zap.Stringer("lease", c.lease))
		return
	}
	if err != nil {
		log.Warn("lease not released; "+guardedlease.Outlook(c.lease), zap.Stringer("lease", c.lease), zap.Error(err))
	}
}

func (c *leaseClient) valid() bool { return c.lease == nil || c.lease.Valid() }

func (c *leaseClient) name() string {
	if c.lease == nil {
		return ""
	}
	return c.lease.String()
}

// gate returns the check that the instance makes before each message; nil without a lease.
func (c *leaseClient) gate() func() error {
	if c.lease == nil {
		return nil
	}
	l := c.lease
	return func() error {
		if l.Valid() {
			return nil
		}
		return ErrLeaseLost
	}
}

func (c *leaseClient) acquire(ctx context.Context, a handover.AcquireLease) {
	ctx, cancel := context.WithCancel(ctx)
	c.giveUp = cancel
	c.inTurn(func() {
		defer cancel()
		ev := handover.LeaseAnswered{Number: a.Number}
		asked := time.Now()
		ev.Held, ev.Err = leasespan.Acquire(ctx, c.system, c.attempt(), func(ctx context.Context) (held bool, err error) {
			held, err = c.lease.AcquireAbove(ctx, a.Floor)
			ev.Token = c.lease.Token()
			return held, err
		})
		c.measured.acquisitions.Observe(time.Since(asked))
		ev.Held = ev.Held && ev.Err == nil
		c.answer(ev)
	})
}

func (c *leaseClient) attempt() leasespan.Attempt {
	return leasespan.Attempt{Lease: c.name(), Holder: c.by, Singleton: c.singleton}
}

func (c *leaseClient) release() {
	c.returning(func(err error) { c.answer(handover.LeaseReleased{Err: err}) })
}

func (c *leaseClient) returning(done func(error)) {
	c.giveUp()
	c.inTurn(func() { done(c.giveBack()) })
}

// inTurn runs f in its own goroutine, after the earlier steps.
func (c *leaseClient) inTurn(f func()) {
	before, over := c.turn, make(chan struct{})
	c.turn = over
	go func() {
		defer close(over)
		if before != nil {
			<-before
		}
		f()
	}()
}

func (c *leaseClient) giveBack() error {
	if c.halted.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), releasePatience)
	defer cancel()
	return c.lease.Release(ctx)
}

// claim takes a term: the epoch of a claim in the journal is greater than those of all before.
func (c *leaseClient) claim(name string, a handover.ClaimTerm) {
	go func() {
		ctx, cancel := context.WithTimeout(c.ctx, claimPatience)
		defer cancel()
		var writer journal.WriterID
		_, _ = rand.Read(writer[:]) // it never fails
		ev := handover.TermClaimed{Number: a.Number}
		ev.Err = guard.Run(func() (err error) {
			claimed, err := c.terms.Claim(ctx, "singleton/"+name, writer, journal.Bounds{Least: a.Floor + 1})
			ev.Term = claimed.Epoch
			return err
		})
		c.answer(ev)
	}()
}
