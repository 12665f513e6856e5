package sharding

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/singleton/generation"
)

// alone are the shards of a system without a cluster, which all run for good. Only the actor of the
// hub uses it.
type alone struct {
	running map[actor.AnyRef]*loneShard
	byShard map[loneKey]*loneShard
}

type loneKey struct {
	typ   string
	shard int
}

type loneShard struct {
	region anyRegion
	shard  int
	term   uint64
	ref    actor.ActorRef[shardMsg]
	ended  []func() // called when it has ended
}

// The messages to the actor of a hub without a cluster.
type (
	// startAll starts all shards of a region.
	startAll struct {
		quiet
		region anyRegion
	}
	// stopHere stops shards of a region, which then start again.
	stopHere struct {
		quiet
		region anyRegion
		shards []int
		done   chan<- struct{}
	}
)

// startAll starts the shards of a region.
func (a *alone) startAll(ctx *actor.Context[any], r anyRegion) {
	for shard := range r.signature().Shards {
		a.start(ctx, &loneShard{region: r, shard: shard})
	}
}

// start starts a shard under the next generation.
func (a *alone) start(ctx *actor.Context[any], s *loneShard) {
	s.term++
	s.ref = s.region.startShard(ctx, ctx.Self(), s.shard, generation.Generation{Term: s.term}, shardStart{begun: func() {}})
	ctx.Watch(s.ref)
	a.running[s.ref] = s
	a.byShard[loneKey{s.region.signature().Name, s.shard}] = s
}

// stop lets shards end, and closes done when all have.
func (a *alone) stop(m stopHere) {
	left := len(m.shards)
	if left == 0 {
		close(m.done)
	}
	for _, shard := range m.shards {
		s := a.byShard[loneKey{m.region.signature().Name, shard}]
		s.ended = append(s.ended, func() {
			if left--; left == 0 {
				close(m.done)
			}
		})
		s.ref.Tell(leaveShard{})
	}
}

// ended starts a shard again that has ended.
func (a *alone) ended(ctx *actor.Context[any], ref actor.AnyRef) {
	s := a.running[ref]
	if s == nil {
		return
	}
	delete(a.running, ref)
	all := s.ended
	s.ended = nil
	a.start(ctx, s)
	for _, done := range all {
		done()
	}
}

// controlHere carries out a request without a cluster.
func (h *hub) controlHere(ctx context.Context, r anyRegion, q controlRequest) error {
	if q.Pin {
		return nil
	}
	done := make(chan struct{})
	h.ref.Tell(stopHere{region: r, shards: q.Shards, done: done})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("sharding: the shards have not ended: %w", context.Cause(ctx))
	}
}
