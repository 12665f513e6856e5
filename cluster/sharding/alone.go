package sharding

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
)

// alone are the shards of a system without a cluster, which all run for good. Only the actor of the
// hub uses it.
type alone struct {
	running   map[actor.AnyRef]*loneShard
	byShard   map[loneKey]*loneShard
	rescaling map[*region]*rescaling
}

func newAlone() *alone {
	return &alone{
		running: map[actor.AnyRef]*loneShard{}, byShard: map[loneKey]*loneShard{}, rescaling: map[*region]*rescaling{},
	}
}

// A rescaling is how many shards a region is about to have.
type rescaling struct {
	shards int
	left   int // shards that have not ended
	done   []chan<- struct{}
}

type loneKey struct {
	typ   string
	shard int
}

type loneShard struct {
	region  *region
	shard   int
	shards  int // of the region
	term    uint64
	ref     actor.ActorRef[shardMsg]
	ended   []func() // called when it has ended
	retired bool     // its region is about to have another number of shards
}

// The messages to the actor of a hub without a cluster.
type (
	// startAll starts all shards of a region.
	startAll struct {
		quiet
		region *region
	}
	// stopHere stops shards of a region, which then start again.
	stopHere struct {
		quiet
		region *region
		shards []int
		done   chan<- struct{}
	}
	// rescaleAll gives a region of daemons another number of shards.
	rescaleAll struct {
		quiet
		region *region
		shards int
		done   chan<- struct{}
	}
)

// startAll starts the shards of a region.
func (a *alone) startAll(ctx *actor.Context[any], r *region, shards int) {
	r.count(shards)
	for shard := range shards {
		s := a.byShard[loneKey{r.signature().Name, shard}]
		if s == nil {
			s = &loneShard{region: r, shard: shard}
		}
		a.start(ctx, s, shards)
	}
}

// rescale ends all shards of a region, and then starts as many as it is to have.
func (a *alone) rescale(ctx *actor.Context[any], m rescaleAll) {
	if before := a.rescaling[m.region]; before != nil {
		before.shards, before.done = m.shards, append(before.done, m.done)
		return
	}
	to := &rescaling{shards: m.shards, done: []chan<- struct{}{m.done}}
	a.rescaling[m.region] = to
	for _, s := range a.running {
		if s.region != m.region {
			continue
		}
		to.left++
		s.retired = true
		s.ended = append(s.ended, func() {
			if to.left--; to.left == 0 {
				a.rescaled(ctx, m.region, to)
			}
		})
		s.ref.Tell(leaveShard{})
	}
}

func (a *alone) rescaled(ctx *actor.Context[any], r *region, to *rescaling) {
	delete(a.rescaling, r)
	a.startAll(ctx, r, to.shards)
	for _, done := range to.done {
		close(done)
	}
}

// start starts a shard under the next generation.
func (a *alone) start(ctx *actor.Context[any], s *loneShard, shards int) {
	s.term++
	s.retired, s.shards = false, shards
	s.ref = s.region.startShard(ctx, ctx.Self(), s.shard, shards, singleton.Generation{Term: s.term}, shardStart{begun: func() {}})
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
	if !s.retired {
		a.start(ctx, s, s.shards)
	}
	for _, done := range all {
		done()
	}
}

// controlHere carries out a request without a cluster.
func (h *hub) controlHere(ctx context.Context, r *region, q controlRequest) error {
	if q.Pin {
		return nil
	}
	done := make(chan struct{})
	if q.Daemons > 0 {
		h.ref.Tell(rescaleAll{region: r, shards: q.Daemons, done: done})
	} else {
		h.ref.Tell(stopHere{region: r, shards: q.Shards, done: done})
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("sharding: the shards are still stopping, because a handler is busy: %w", context.Cause(ctx))
	}
}

// A slicer returns the slices of the entities of one type, like journal.SliceOf, without making
// their persistence ids. It is the state of the FNV-1a hash after what all of them begin with.
type slicer uint32

const (
	fnvOffset slicer = 2166136261
	fnvPrime  slicer = 16777619
)

func slicerOf(typ string) slicer { return fnvOffset.after(persistenceID(typ, "")) }

func (s slicer) after(text string) slicer {
	for i := range len(text) {
		s = (s ^ slicer(text[i])) * fnvPrime
	}
	return s
}

// of returns the slice of the entity with an id.
func (s slicer) of(id string) int { return int(s.after(id) % journal.Slices) }
