package singleton

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/singleton/generation"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/singleton/lease"
)

// releasePatience bounds how long others wait for a lease to be given back. What has not
// been given back by then is given back later, or expires.
const releasePatience = 5 * time.Second

// claimPatience bounds one question to a source of terms.
const claimPatience = 10 * time.Second

// A keeping does for one manager what is done outside of the cluster: it asks for the
// lease and for terms, in goroutines of their own, and tells what came of it. What is
// done with the lease is done one after the other: a release that overtook the question
// before it would leave the lease with nobody who knows.
type keeping struct {
	ctx    context.Context // the manager's
	by     string          // the manager, as owner of what it claims
	lease  lease.Lease     // nil: none
	source generation.TermSource
	answer func(event)

	cancel func()          // takes out the handler of losses
	free   func()          // lets others use the lease
	halted atomic.Bool     // the lease is left to expire
	giveUp func()          // ends the last question to the lease; nil when there was none
	turn   <-chan struct{} // closed when all that was begun with the lease is over
}

// reservable is a lease that knows whether somebody uses it, as those of package lease do.
type reservable interface {
	Reserve(by string) (free func(), err error)
}

// open has losses of the lease told. It panics when another manager uses the lease, which
// would be held by both then.
func (k *keeping) open(by string) {
	k.by = by
	if k.lease == nil {
		return
	}
	k.free = func() {}
	if r, ok := k.lease.(reservable); ok {
		free, err := r.Reserve(by)
		if err != nil {
			panic(fmt.Sprintf("singleton: %v; give every manager its own, also for another singleton and on another node of the same process", err))
		}
		k.free = free
	}
	k.cancel = k.lease.OnLost(func(reason error) { k.answer(leaseLost{reason}) })
}

// halt is what the end of the process does to the lease: nobody renews it or gives it back.
func (k *keeping) halt() {
	k.halted.Store(true)
	if l, ok := k.lease.(interface{ Abandon() }); ok {
		l.Abandon()
	}
}

// close gives the lease back, and waits for that: once the manager has ended nobody would.
func (k *keeping) close(log *zap.Logger) {
	if k.lease == nil {
		return
	}
	defer k.free()
	k.cancel()
	if k.giveUp == nil {
		return
	}
	var err error
	k.returning(func(failure error) { err = failure })
	patience := time.NewTimer(2 * releasePatience)
	defer patience.Stop()
	select {
	case <-k.turn:
	case <-patience.C:
		log.Warn("lease not given back yet: it does not answer", zap.Stringer("lease", k.lease))
		return
	}
	if err != nil {
		log.Warn("lease not given back; it has to expire", zap.Stringer("lease", k.lease), zap.Error(err))
	}
}

// valid reports whether an instance may run, as far as the lease goes.
func (k *keeping) valid() bool { return k.lease == nil || k.lease.Valid() }

// name is what people call the lease.
func (k *keeping) name() string {
	if k.lease == nil {
		return ""
	}
	return k.lease.String()
}

// gate returns what the instance asks before each message.
func (k *keeping) gate() func() error {
	if k.lease == nil {
		return nil
	}
	l := k.lease
	return func() error {
		if l.Valid() {
			return nil
		}
		return ErrLeaseLost
	}
}

func (k *keeping) acquire(a acquireLease) {
	ctx, cancel := context.WithCancel(k.ctx)
	k.giveUp = cancel
	k.inTurn(func() {
		defer cancel()
		ev := leaseAnswered{number: a.number}
		ev.err = guard.Run(func() (err error) {
			ev.held, err = k.lease.AcquireAbove(ctx, a.floor)
			ev.token = k.lease.Token()
			return err
		})
		ev.held = ev.held && ev.err == nil
		k.answer(ev)
	})
}

func (k *keeping) release() {
	k.returning(func(err error) { k.answer(leaseReleased{err}) })
}

// returning gives the lease back, also when a question for it is still under way.
func (k *keeping) returning(done func(error)) {
	k.giveUp()
	k.inTurn(func() { done(guard.Run(k.giveBack)) })
}

// inTurn runs f in a goroutine of its own, when what was begun before is over.
func (k *keeping) inTurn(f func()) {
	before, over := k.turn, make(chan struct{})
	k.turn = over
	go func() {
		defer close(over)
		if before != nil {
			<-before
		}
		f()
	}()
}

func (k *keeping) giveBack() error {
	if k.halted.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(k.ctx), releasePatience)
	defer cancel()
	return k.lease.Release(ctx)
}

func (k *keeping) claim(name string, a claimTerm) {
	go func() {
		ctx, cancel := context.WithTimeout(k.ctx, claimPatience)
		defer cancel()
		ev := claimed{number: a.number}
		ev.err = guard.Run(func() (err error) {
			var g Generation
			g, err = k.source.ClaimTerm(ctx, "singleton/"+name, k.by, a.floor)
			ev.term = g.Term
			return err
		})
		k.answer(ev)
	}()
}
