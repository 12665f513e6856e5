package sharding

import (
	"context"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
)

// A ShardState is what the coordinator does with a shard.
type ShardState string

// The states of a shard.
const (
	Homeless ShardState = "homeless" // it runs nowhere
	Starting ShardState = "starting" // its node has been asked to start it
	Running  ShardState = "running"
	Leaving  ShardState = "leaving" // its node has been asked to stop it, and then it gets another home
)

// An Explanation says where an entity is, and why not elsewhere.
type Explanation struct {
	Type, ID   string
	Shard      int
	State      ShardState // of the shard
	Since      time.Time  // when the state began, by the clock of the coordinator; zero if that is unknown
	Node       string     // the name of the node of the shard; "" while it has none, and without a cluster
	Generation uint64     // the Term of the shard's last home
	Why        string     // why the shard does not run, or is not moved to balance the nodes; "" if nothing is to be said
	Failures   int        // attempts to run the shard that have failed in a row
	LastError  string     // of the last of them
	Pinned     string     // the name of the node where [Region.Pin] wants it; "" for none
	Strategy   string     // that has chosen the node: of [WithStrategy], Pinned, or LeastShards; "" if a former coordinator has chosen, and without a cluster
	Held       int        // messages told on this node that wait for the shard
}

// Explain asks the coordinator, wherever it runs, where the entity with that id is, and why not
// elsewhere. It blocks until the answer has come, and returns an error that wraps the cause of ctx
// when ctx ends. It does not start the entity. It must not be called by a handler, which it would
// block.
func (r *Region[M]) Explain(ctx context.Context, id string) (Explanation, error) {
	return r.plain.explain(ctx, id)
}

func (r *region) explain(ctx context.Context, id string) (Explanation, error) {
	if err := ValidateID(id); err != nil {
		return Explanation{}, err
	}
	shard, there := r.shardOf(id)
	if !there {
		return Explanation{}, fmt.Errorf("sharding: %q is not the index of a daemon", id)
	}
	here := r.lanes[shard].stats()
	all := Explanation{Type: r.name, ID: id, Shard: shard, State: Running, Generation: here.Generation, Held: here.Held}
	if why := r.refused.Load(); why != nil {
		return all, *why
	}
	if r.hub.outside == nil {
		return all, nil
	}
	of, err := r.hub.outside.explain(ctx, r.name, shard)
	if err != nil {
		return all, fmt.Errorf("sharding: the coordinator of the shards does not answer: %w", err)
	}
	all.State, all.Since, all.Node, all.Generation = ShardState(of.State), of.Since, of.Node, of.Generation
	all.Why, all.Failures, all.LastError = of.Why, of.Failures, of.LastError
	all.Pinned, all.Strategy = of.Pinned, of.Strategy
	return all, nil
}

func (c *clustered) explain(ctx context.Context, typ string, shard int) (allot.Explanation, error) {
	return actor.Ask(ctx, c.coordinator, func(r actor.ActorRef[allot.Explanation]) home.Input {
		return explainRequest{Type: typ, Shard: shard, ReplyTo: r}
	})
}

// homeless asks the coordinator which shards run nowhere, and why. The answer is sorted by type.
func (c *clustered) homeless(ctx context.Context) ([]allot.Homeless, error) {
	return actor.Ask(ctx, c.coordinator, func(r actor.ActorRef[[]allot.Homeless]) home.Input {
		return homelessRequest{ReplyTo: r}
	})
}
