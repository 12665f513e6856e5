package leaseholder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/singleton/lease"
)

// A Source is cluster.Config.Leases, as an extension of the system of its node, or the function of
// sharding.WithLease.
type Source func(name, owner string) (lease.Lease, error)

// New returns the handle of the lease of that name that the source creates for owner. A panic of
// the source is an error.
func (s Source) New(name, owner string) (l lease.Lease, err error) {
	err = guard.Run(func() (err error) {
		if l, err = s(name, owner); err == nil && l == nil {
			err = errors.New("the function of cluster.Config.Leases or sharding.WithLease has returned nil")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create the lease %s: %w", name, err)
	}
	return l, nil
}

// A guarded lease is a user's, also with the methods that package lease has beside the interface. A
// panic in acquire, release or reserve is returned as an error. If another method panics, the lease
// is not valid, has no token, or reports nothing.
type guarded struct{ of lease.Lease }

func (g guarded) acquire(ctx context.Context, floor uint64) (a Answer) {
	a.Err = guard.Run(func() (err error) {
		if a.Held, err = g.of.AcquireAbove(ctx, floor); a.Held {
			a.Token = g.of.Token() // a lease that cannot tell its token is not held
		}
		return err
	})
	a.Held = a.Held && a.Err == nil
	return a
}

func (g guarded) release(ctx context.Context) error {
	return guard.Run(func() error { return g.of.Release(ctx) })
}

func (g guarded) valid() bool {
	valid, _ := guard.Value(g.of.Valid)
	return valid
}

func (g guarded) onLost(f func(reason error)) (cancel func()) {
	remove, err := guard.Value(func() func() { return g.of.OnLost(f) })
	if err != nil || remove == nil {
		return func() {}
	}
	return func() { _ = guard.Do(remove) } // a report too many does no harm
}

// Name returns the text of a lease for people, also if its method String panics.
func Name(l lease.Lease) string {
	if text, err := guard.Value(l.String); err == nil {
		return text
	}
	return fmt.Sprintf("a %T", l)
}

func (g guarded) reserve(by string) (free func(), err error) {
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

func (g guarded) observeRenewals(f func(took time.Duration)) {
	if o, can := g.of.(interface {
		ObserveRenewals(f func(took time.Duration))
	}); can {
		_ = guard.Do(func() { o.ObserveRenewals(f) }) // only a figure is missing
	}
}

func (g guarded) abandon() {
	if a, can := g.of.(interface{ Abandon() }); can {
		_ = guard.Do(a.Abandon) // it is for tests
	}
}
