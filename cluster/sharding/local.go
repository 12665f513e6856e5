package sharding

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/singleton/generation"
)

// The messages to the actor of a hub without a cluster.
type (
	// startAll starts all shards of a region.
	startAll struct {
		quiet
		region anyRegion
	}
	// rescaleAll gives a region of daemons another number of shards. done is called when it has it.
	rescaleAll struct {
		quiet
		region anyRegion
		shards int
		done   func()
	}
)

// localShards are the shards of a node without a cluster, by region. Only the actor of the hub uses
// them.
type localShards map[anyRegion]*localType

type localType struct {
	running map[actor.AnyRef]actor.ActorRef[shardMsg]
	next    int // the number of shards that it is about to have; 0 if it stays
	done    []func()
}

// start starts the shards of a region.
func (all localShards) start(ctx *actor.Context[any], r anyRegion, shards int) {
	t := &localType{running: map[actor.AnyRef]actor.ActorRef[shardMsg]{}}
	all[r] = t
	r.count(shards)
	for shard := range shards {
		ref := r.startShard(ctx, ctx.Self(), shard, shards, generation.Generation{Term: 1}, func() {}, nil)
		ctx.Watch(ref)
		t.running[ref] = ref
	}
}

// rescale ends all shards of a region. It then has the new number of them.
func (all localShards) rescale(msg rescaleAll) {
	t := all[msg.region]
	t.next, t.done = msg.shards, append(t.done, msg.done)
	for _, ref := range t.running {
		ref.Tell(leaveShard{})
	}
}

// ended notes that a shard has ended.
func (all localShards) ended(ctx *actor.Context[any], ref actor.AnyRef) {
	for r, t := range all {
		delete(t.running, ref)
		if t.next == 0 || len(t.running) > 0 {
			continue
		}
		all.start(ctx, r, t.next)
		for _, done := range t.done {
			done()
		}
	}
}
