package behaviors_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	behaviors "github.com/understudy-go/understudy/behavior"
)

var doors = receptionist.NewKey[Door]("doors")

// A discoverable actor registers itself under a key, by which other actors find it: on all nodes of
// a cluster, or in one system, as here.
func ExampleDiscoverable() {
	system := actor.NewSystem("example")
	defer shutdown(system)

	front := actor.Spawn(system, behaviors.Discoverable(doors, closed(0)), "front")
	fmt.Println(actor.Ask(context.Background(), front, func(r actor.ActorRef[string]) Door { return State{r} }))
	for _, door := range receptionist.Find(system, doors).Instances {
		fmt.Println(door.Ref.Path())
	}
	// Output:
	// closed, opened 0 times <nil>
	// understudy://example/user/front
}
