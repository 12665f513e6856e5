package behaviors_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
)

// A singleton is spawned like any other actor, on every node of the cluster; or on one
// system without a cluster, as here.
func ExampleSingleton() {
	system := actor.NewSystem("example")
	defer shutdown(system)

	ref := actor.Spawn(system, behaviors.Singleton(func() actor.Behavior[Door] { return closed(0) }), "door")
	ref.Tell(Open{})
	fmt.Println(actor.Ask(context.Background(), ref, func(r actor.ActorRef[string]) Door { return State{r} }))
	// Output: open <nil>
}

// With a lease, an instance runs only on the node that holds it, whatever the members of the
// cluster believe about each other. Stores of leases are in the packages below singleton/lease;
// this one is in memory.
func ExampleSingleton_lease() {
	system := actor.NewSystem("example")
	defer shutdown(system)

	l, err := lease.New(lease.NewMemory(), "door", "node-1", lease.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ref := actor.Spawn(system, behaviors.Singleton(func() actor.Behavior[Door] { return closed(0) },
		singleton.WithLease(l)), "door")
	ref.Tell(Open{})
	fmt.Println(actor.Ask(context.Background(), ref, func(r actor.ActorRef[string]) Door { return State{r} }))
	// Output: open <nil>
}
