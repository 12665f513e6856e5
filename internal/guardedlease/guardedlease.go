// Package guardedlease calls leases that users have written: a panic in one of their methods costs
// the lease, and not the caller.
package guardedlease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/singleton/lease"
)

// A Lease calls the methods of another, also those that package lease has beside the interface. A
// panic in Acquire, AcquireAbove, Release or Reserve is returned as a [*guard.PanicError]. If
// another method panics, the lease is not valid, has no token, or reports nothing.
type Lease struct{ of lease.Lease }

var _ lease.Lease = Lease{}

// New returns l, guarded.
func New(l lease.Lease) Lease { return Lease{l} }

// A Source is cluster.Config.Leases, as an extension of the system of its node, or the function of
// sharding.WithLease. It creates a handle of the lease of that name for owner.
type Source func(name, owner string) (lease.Lease, error)

// New returns the handle that the source creates, guarded.
func (s Source) New(name, owner string) (Lease, error) {
	var l lease.Lease
	err := guard.Run(func() (err error) {
		if l, err = s(name, owner); err == nil && l == nil {
			err = errors.New("the function of cluster.Config.Leases or sharding.WithLease has returned nil")
		}
		return err
	})
	if err != nil {
		return Lease{}, fmt.Errorf("create the lease %s: %w", name, err)
	}
	return New(l), nil
}

// Acquire implements [lease.Lease].
func (g Lease) Acquire(ctx context.Context) (held bool, err error) {
	return g.acquired(func() (bool, error) { return g.of.Acquire(ctx) })
}

// AcquireAbove implements [lease.Lease].
func (g Lease) AcquireAbove(ctx context.Context, floor uint64) (held bool, err error) {
	return g.acquired(func() (bool, error) { return g.of.AcquireAbove(ctx, floor) })
}

func (g Lease) acquired(acquire func() (bool, error)) (held bool, err error) {
	err = guard.Run(func() (err error) {
		if held, err = acquire(); held {
			g.of.Token() // a lease that cannot tell its token is not held
		}
		return err
	})
	return held && err == nil, err
}

// Release implements [lease.Lease].
func (g Lease) Release(ctx context.Context) error {
	return guard.Run(func() error { return g.of.Release(ctx) })
}

// Outlook says, for logs, what becomes of a lease whose Release has failed. One that has panicked
// may not have ended it.
func Outlook(l lease.Lease) string {
	if l.Valid() {
		return "it is still valid, and others get it only when this process ends"
	}
	return "it has to expire"
}

// Valid implements [lease.Lease].
func (g Lease) Valid() bool {
	valid, _ := guard.Value(g.of.Valid)
	return valid
}

// Token implements [lease.Lease].
func (g Lease) Token() uint64 {
	token, _ := guard.Value(g.of.Token)
	return token
}

// OnLost implements [lease.Lease].
func (g Lease) OnLost(f func(reason error)) (cancel func()) {
	remove, err := guard.Value(func() func() { return g.of.OnLost(f) })
	if err != nil || remove == nil {
		return func() {}
	}
	return func() { _ = guard.Do(remove) } // a report too many does no harm
}

// String implements [lease.Lease].
func (g Lease) String() string {
	if text, err := guard.Value(g.of.String); err == nil {
		return text
	}
	return fmt.Sprintf("a %T", g.of)
}

// Reserve reserves the lease for a user, if it can be reserved.
func (g Lease) Reserve(by string) (free func(), err error) {
	r, can := g.of.(interface {
		Reserve(by string) (free func(), err error)
	})
	if !can {
		return func() {}, nil
	}
	err = guard.Run(func() (err error) {
		free, err = r.Reserve(by)
		return err
	})
	return free, err
}

// ObserveRenewals lets the lease report how long each renewal takes, if it can.
func (g Lease) ObserveRenewals(f func(took time.Duration)) {
	if o, can := g.of.(interface {
		ObserveRenewals(f func(took time.Duration))
	}); can {
		_ = guard.Do(func() { o.ObserveRenewals(f) }) // only a figure is missing
	}
}

// Abandon treats the lease as the end of the process would, if it can.
func (g Lease) Abandon() {
	if a, can := g.of.(interface{ Abandon() }); can {
		_ = guard.Do(a.Abandon) // it is for tests
	}
}
