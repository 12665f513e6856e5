package busy

import (
	"context"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
)

func (p *Program) newCart(e sharding.Entity) actor.Behavior[Sale] {
	return newLedger(e.PersistenceID(), p.store, "carts")
}

// fill puts something into a cart.
func (p *Program) fill(ctx context.Context) error {
	cart := sharding.RefOf[Sale](p.Nodes[0], "cart", "7")
	_, err := actor.Ask(ctx, cart, func(r actor.ActorRef[int]) Sale { return Sale{Item: "hat", ReplyTo: r} })
	return err
}

// StartUnhosted starts a type of entities that no node hosts, and tells one of them something.
func (p *Program) StartUnhosted() error {
	region, err := sharding.Start(p.Nodes[0], "unhosted", func(sharding.Entity) actor.Behavior[string] { return behaviors.Ignore[string] },
		sharding.Shards(8), sharding.ProxyOnly())
	if err == nil {
		region.Ref("1").Tell("is anybody there?")
	}
	return err
}
