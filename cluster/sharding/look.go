package sharding

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/inspect"
)

// showState lets the page of the node show what an entity has stored. The factory makes the
// behavior of one more actor for that, which ends before it handles anything.
func showState(r *region) {
	if !r.set.hosts {
		return // its factory may be of no use
	}
	inspect.Register(r.system, r.name, func(ctx context.Context, id string, q inspect.Query) (inspect.Found, error) {
		if err := ValidateID(id); err != nil {
			return inspect.Found{}, err
		}
		shard, there := r.shardOf(id)
		if !there {
			return inspect.Found{}, fmt.Errorf("sharding: type %q has no entity %q", r.name, id)
		}
		return inspect.Run(ctx, r.system, q, func(parent actor.Spawner, name string, with context.Context) actor.AnyRef {
			return r.kind.spawn(&residents{lane: r.lanes[shard], shards: r.signature().Shards, look: &look{parent, name, with}}, escape(id))
		})
	})
}

// A look is where an actor that ends once it has begun is spawned, with its name and its context.
type look struct {
	under actor.Spawner
	name  string
	with  context.Context //nolint:containedctx // of the actor
}
