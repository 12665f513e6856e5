package singleton

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/singleton/lease"
)

// releasePatience bounds how long others wait for a lease to be given back. What has not
// been given back by then expires.
const releasePatience = 5 * time.Second

// A keeping does for one manager what is done outside of the cluster: it asks for the
// lease and for terms, in goroutines of their own, and tells what came of it.
type keeping struct {
	ctx    context.Context // the manager's
	lease  lease.Lease     // nil: none
	source GenerationSource
	answer func(event)
	cancel func() // takes out the handler of losses
	used   bool   // the lease may be ours
}

// open has losses of the lease told.
func (k *keeping) open() {
	if k.lease != nil {
		k.cancel = k.lease.OnLost(func(reason error) { k.answer(leaseLost{reason}) })
	}
}

// close gives the lease back, and waits for that: once the manager has ended nobody would.
func (k *keeping) close(log *zap.Logger) {
	if k.lease == nil {
		return
	}
	k.cancel()
	if !k.used {
		return
	}
	if err := guarded(k.giveBack); err != nil {
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
	k.used = true
	go func() {
		ev := leaseAnswered{number: a.number}
		ev.err = guarded(func() (err error) {
			ev.held, err = k.lease.AcquireAbove(k.ctx, a.floor)
			ev.token = k.lease.Token()
			return err
		})
		ev.held = ev.held && ev.err == nil
		k.answer(ev)
	}()
}

func (k *keeping) release() {
	go func() {
		k.answer(leaseReleased{guarded(k.giveBack)})
	}()
}

func (k *keeping) giveBack() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(k.ctx), releasePatience)
	defer cancel()
	return k.lease.Release(ctx)
}

func (k *keeping) claim(name string, a claimTerm) {
	go func() {
		ev := claimed{number: a.number}
		ev.err = guarded(func() (err error) {
			ev.term, err = k.source.NextTerm(k.ctx, name, a.floor)
			return err
		})
		k.answer(ev)
	}()
}

// guarded runs what others have written, and returns a panic as an error.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return f()
}
