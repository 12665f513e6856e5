package behaviors_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
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
