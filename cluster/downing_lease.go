package cluster

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/leasespan"
)

// A leasing acquires and releases the lease of the downing strategy. It belongs to the node, not to
// an incarnation: a node that has acquired the lease keeps it until the other sides have asked.
type leasing struct {
	aborted context.Context // of the node
	system  *actor.System
	log     *zap.Logger

	turn chan struct{} // full while the lease is used; guards the field below
	all  uint64        // number of requests that may have been granted
}

func newLeasing(aborted context.Context, system *actor.System, log *zap.Logger) *leasing {
	return &leasing{aborted: aborted, system: system, log: log, turn: make(chan struct{}, 1)}
}

// acquire requests the lease, posts the answer, and releases the lease after Ask.Hold. If the node
// ends first, it does not release the lease: the losing side may still ask for it, so it must
// expire by itself.
func (l *leasing) acquire(a membership.AcquireLease, post func(membership.Input)) {
	held, number := l.request(a.Ask)
	post(membership.LeaseAnswered{Number: a.Number, Held: held})
	if number == 0 {
		return
	}
	select {
	case <-time.After(a.Ask.Hold):
		l.release(a.Ask, number)
	case <-l.aborted.Done():
	}
}

// request returns whether this node certainly holds the lease, and the number of the request if it
// may hold it.
func (l *leasing) request(ask downing.Ask) (held bool, number uint64) {
	ctx, cancel := context.WithTimeout(l.aborted, ask.Timeout)
	defer cancel()
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return false, 0
	}
	defer func() { <-l.turn }()
	attempt := leasespan.Attempt{Lease: nameOfLease(ask.Lease), Holder: l.system.Address()}
	held, err := leasespan.Acquire(ctx, l.system, attempt, ask.Lease.Acquire)
	if err != nil {
		l.log.Warn("lease of downing not acquired", zap.Error(err))
		held = false
	}
	if held || err != nil {
		l.all++
		number = l.all
	}
	return held, number
}

func nameOfLease(l downing.Lease) string {
	if named, ok := l.(fmt.Stringer); ok {
		return fmt.Sprint(named) // also if String panics
	}
	return fmt.Sprintf("%T", l)
}

// release releases the lease, unless it has been acquired again since.
func (l *leasing) release(ask downing.Ask, number uint64) {
	ctx, cancel := context.WithTimeout(l.aborted, ask.Timeout)
	defer cancel()
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-l.turn }()
	if l.all != number {
		return
	}
	if err := guard.Run(func() error { return ask.Lease.Release(ctx) }); err != nil {
		l.log.Warn("lease of downing not released", zap.Error(err))
	}
}
