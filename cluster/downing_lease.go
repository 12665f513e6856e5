package cluster

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/cluster/membership"
)

// A leasing asks for the lease of the downing strategy, and gives it back. It is the
// node's, not an incarnation's: who has got the lease keeps it until the others have asked.
type leasing struct {
	turn chan struct{} // full while the lease is used; guards all
	all  uint64        // questions that may have been granted
}

func newLeasing() *leasing { return &leasing{turn: make(chan struct{}, 1)} }

// acquire asks for the lease, reports the answer, and gives the lease back after a while;
// unless the node ends before: then the lease must expire by itself, as the side that has
// lost may still ask for it.
func (n *Node) acquire(incarnation uint64, a membership.AcquireLease) {
	held, number := n.askLease(a.Ask)
	n.inbox.post(incarnation, membership.LeaseAnswered{Number: a.Number, Held: held})
	if number == 0 {
		return
	}
	select {
	case <-time.After(a.Ask.Hold):
		n.releaseLease(a.Ask, number)
	case <-n.aborted.Done():
	}
}

// askLease returns whether the lease is certainly ours, and the number of the question if
// it may be.
func (n *Node) askLease(ask downing.Ask) (held bool, number uint64) {
	ctx, cancel := context.WithTimeout(n.aborted, ask.Timeout)
	defer cancel()
	l := n.leasing
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return false, 0
	}
	defer func() { <-l.turn }()
	held, err := ask.Lease.Acquire(ctx)
	if err != nil {
		n.log.Warn("lease of downing not acquired", zap.Error(err))
		held = false
	}
	if held || err != nil {
		l.all++
		number = l.all
	}
	return held, number
}

// releaseLease gives the lease back, unless it has been acquired once more since.
func (n *Node) releaseLease(ask downing.Ask, number uint64) {
	ctx, cancel := context.WithTimeout(n.aborted, ask.Timeout)
	defer cancel()
	l := n.leasing
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-l.turn }()
	if l.all != number {
		return
	}
	if err := ask.Lease.Release(ctx); err != nil {
		n.log.Warn("lease of downing not released", zap.Error(err))
	}
}
