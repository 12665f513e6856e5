package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/leaseholder"
	"github.com/understudy-go/understudy/singleton/lease"
)

// A leasing acquires and releases the lease of the downing strategy. It belongs to the node, not to
// an incarnation: a node that has acquired the lease keeps it until the other sides have asked.
type leasing struct {
	aborted context.Context // of the node
	system  *actor.System
	log     *zap.Logger

	mu     sync.Mutex          // guards the fields below
	holder *leaseholder.Holder // nil: nothing has been asked
	last   uint64              // number of the last request
}

// acquire requests the lease, posts the answer, and has the lease released after Ask.Hold. The
// process may end before: the losing side may still ask for the lease, which must expire by itself.
func (l *leasing) acquire(a membership.AcquireLease, post func(membership.Input)) {
	ctx, cancel := context.WithTimeout(l.aborted, a.Ask.Timeout)
	defer cancel()
	answered := make(chan leaseholder.Answer, 1)
	l.mu.Lock()
	h := l.holderOf(a.Ask)
	l.last++
	number := l.last
	h.Acquire(ctx, 0, func(a leaseholder.Answer) { answered <- a })
	l.mu.Unlock()
	answer := <-answered
	post(membership.LeaseAnswered{Number: a.Number, Held: answer.Held})
	if answer.Err != nil {
		l.log.Warn("lease of downing not acquired", zap.Stringer("lease", h), zap.Error(answer.Err))
	}
	if answer.Held || answer.Err != nil { // else it is certainly another's
		time.AfterFunc(a.Ask.Hold, func() { l.release(number) })
	}
}

// holderOf returns the holder of the lease, which is the same in all requests of a strategy.
func (l *leasing) holderOf(ask downing.Ask) *leaseholder.Holder {
	if l.holder == nil {
		l.holder = leaseholder.New(leaseholder.Config{
			System: l.system, User: l.system.Address(),
			Create: func() (lease.Lease, error) { return ask.Lease, nil },
			// The decision has been taken under it, and cannot be taken back.
			Lost: func(reason error) { l.log.Warn("lease of downing lost", zap.Error(reason)) },
		})
	}
	return l.holder
}

// release releases the lease, unless it has been requested again since.
func (l *leasing) release(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock() // a request that begins meanwhile comes after the release
	if h := l.holder; l.last == number {
		h.Release(func(err error) {
			if err != nil {
				l.log.Warn("lease of downing not released; "+h.Outlook(), zap.Stringer("lease", h), zap.Error(err))
			}
		})
	}
}

// withLease returns the downing strategy with the lease that create returns, if it takes one and
// has none, and validates it. create may be nil.
func withLease(d Downing, create func() (lease.Lease, error)) (_ Downing, err error) {
	if s, takes := d.(interface {
		OrLease(create func() (lease.Lease, error)) (Downing, error)
	}); takes && create != nil {
		if d, err = s.OrLease(create); err != nil {
			return nil, fmt.Errorf("cluster: Config.Leases: %w", err)
		}
	}
	return d, validateDowning(d)
}

// leasedDowning returns the downing strategy, with its lease of Leases if it takes one.
func (c Config) leasedDowning(address string) (d Downing, err error) {
	if c.Leases == nil {
		return c.Downing, nil
	}
	err = guard.Run(func() (err error) {
		d, err = withLease(c.Downing, func() (lease.Lease, error) {
			return leaseholder.Source(c.Leases).New(c.Name+"-downing", address)
		})
		return err
	})
	return d, err
}
