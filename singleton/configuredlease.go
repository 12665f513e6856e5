package singleton

import (
	"context"
	"sync"
	"time"
)

// configuredLease returns the lease of a singleton by cluster.Config.Leases. If that fails, it
// returns a [lateLease].
func configuredLease(create func() (managedLease, error)) managedLease {
	if l, err := create(); err == nil {
		return l
	}
	return &lateLease{create: create}
}

// A lateLease is a lease that could not be created yet. Each attempt to acquire it tries to create
// it, so the manager shows the error and tries again, as it does when a store is unavailable. One
// manager uses it: see [leaseClient].
type lateLease struct {
	create func() (managedLease, error)

	mu        sync.Mutex   // guards all below
	lease     managedLease // nil: not created yet
	by        string       // the manager
	onLost    func(reason error)
	renewed   func(took time.Duration)
	cancel    func() // removes onLost from lease
	free      func() // ends the reservation of lease
	abandoned bool
}

func (l *lateLease) created() managedLease {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lease
}

func (l *lateLease) ensure() (managedLease, error) {
	if c := l.created(); c != nil {
		return c, nil
	}
	c, err := l.create()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.free, err = c.Reserve(l.by); err != nil {
		return nil, err
	}
	if l.onLost != nil {
		l.cancel = c.OnLost(l.onLost)
	}
	if l.renewed != nil {
		c.ObserveRenewals(l.renewed)
	}
	if l.abandoned {
		c.Abandon()
	}
	l.lease = c
	return c, nil
}

func (l *lateLease) Acquire(ctx context.Context) (held bool, err error) {
	return l.AcquireAbove(ctx, 0)
}

// AcquireAbove fails with the error of cluster.Config.Leases as long as that returns one.
func (l *lateLease) AcquireAbove(ctx context.Context, floor uint64) (held bool, err error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	c, err := l.ensure()
	if err != nil {
		return false, err
	}
	return c.AcquireAbove(ctx, floor)
}

func (l *lateLease) Release(ctx context.Context) error {
	if c := l.created(); c != nil {
		return c.Release(ctx)
	}
	return nil
}

func (l *lateLease) Valid() bool {
	c := l.created()
	return c != nil && c.Valid()
}

func (l *lateLease) Token() uint64 {
	if c := l.created(); c != nil {
		return c.Token()
	}
	return 0
}

// OnLost registers one function at a time.
func (l *lateLease) OnLost(f func(reason error)) (cancel func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onLost = f
	return func() {
		l.mu.Lock()
		cancel := l.cancel
		l.onLost, l.cancel = nil, nil
		l.mu.Unlock()
		call(cancel)
	}
}

// ObserveRenewals notes the function for when there is a lease.
func (l *lateLease) ObserveRenewals(f func(took time.Duration)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewed = f
}

func (l *lateLease) String() string {
	if c := l.created(); c != nil {
		return c.String()
	}
	return "not created yet by cluster.Config.Leases"
}

func (l *lateLease) Reserve(by string) (free func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.by = by
	return func() {
		l.mu.Lock()
		free := l.free
		l.free = nil
		l.mu.Unlock()
		call(free)
	}, nil
}

// Abandon abandons the lease, also one that is created later.
func (l *lateLease) Abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.abandoned = true
	if l.lease != nil {
		l.lease.Abandon()
	}
}

func call(f func()) {
	if f != nil {
		f()
	}
}
