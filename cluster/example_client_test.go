package cluster_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
)

// Order is the message of the shops.
type Order struct {
	Item    string
	ReplyTo actor.ActorRef[string]
}

func init() { actor.RegisterType[Order]("example.order") }

var shops = receptionist.NewKey[Order]("shops")

func shop() actor.Behavior[Order] {
	return behaviors.Receive(func(_ *actor.Context[Order], o Order) actor.Behavior[Order] {
		o.ReplyTo.Tell("one " + o.Item)
		return behaviors.Same
	})
}

// A program that is not a member of the cluster sends messages to its actors: by path, by the
// service that they offer, and to singletons by name.
func ExampleDial() {
	ctx := context.Background()
	node, err := cluster.Start(ctx, cluster.Config{Name: "mall", NodeID: "first"})
	if err != nil {
		fmt.Println(err)
		return
	}
	actor.Spawn(node, behaviors.Discoverable(shops, shop()), "corner")
	actor.Spawn(node, behaviors.Singleton(shop), "flagship")

	client, err := cluster.Dial(ctx, cluster.ClientConfig{Name: "mall", Contacts: []string{node.Address()}})
	if err != nil {
		fmt.Println(err)
		return
	}
	order := func(at actor.ActorRef[Order], item string) {
		fmt.Println(actor.Ask(ctx, at, func(replyTo actor.ActorRef[string]) Order { return Order{item, replyTo} }))
	}
	order(actor.Resolve[Order](client.System, "understudy://mall@"+node.Address()+"/user/corner"), "tea")

	listing, err := cluster.Lookup(ctx, client, shops)
	if err != nil {
		fmt.Println(err)
		return
	}
	order(listing.Reachable()[0], "coffee")

	order(singleton.Ref[Order](client.System, "flagship"), "cake")
	fmt.Println(client.Shutdown(ctx), node.Leave(ctx))
	// Output:
	// one tea <nil>
	// one coffee <nil>
	// one cake <nil>
	// <nil> <nil>
}
