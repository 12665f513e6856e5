package placement_test

import (
	"context"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
)

// greet is the message type of greeters.
type greet struct {
	Name    string
	ReplyTo actor.ActorRef[string]
}

func init() { actor.RegisterType[greet]("placement-example.greet") }

// greeters are made from a greeting, and take greet.
var greeters = placement.NewType[string, greet]("greeter")

func greeter(greeting string) actor.Behavior[greet] {
	return behaviors.Receive(func(ctx *actor.Context[greet], msg greet) actor.Behavior[greet] {
		msg.ReplyTo.Tell(fmt.Sprintf("%s, %s! (generation %v)", greeting, msg.Name, singleton.GenerationOf(ctx)))
		return behaviors.Same
	})
}

func say(ctx context.Context, node *cluster.Node, label, name string) string {
	answer, err := actor.Ask(ctx, greeters.Ref(node.System, label), func(replyTo actor.ActorRef[string]) greet { return greet{name, replyTo} })
	if err != nil {
		return err.Error()
	}
	return answer
}

// An actor is declared by a spec, and found by its label.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	node, err := cluster.Start(ctx, cluster.Config{NodeID: "node-1", Journal: journal.NewMemory(), Meta: map[string]string{"zone": "a"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Leave(ctx) //nolint:errcheck // the example is over
	coordinator, err := placement.Start(node, placement.Config{Factories: []placement.Factory{greeters.Factory(greeter)}})
	if err != nil {
		fmt.Println(err)
		return
	}

	decision, err := coordinator.Submit(ctx, greeters.Spec("greeters/english", "Hello"))
	fmt.Println(decision, err)
	fmt.Println(say(ctx, node, "greeters/english", "Ada"))

	_, err = coordinator.Submit(ctx, greeters.Spec("greeters/french", "Bonjour").
		WithConstraints(placement.Constraints{Meta: map[string]string{"zone": "b"}}))
	fmt.Println(err)
	// Output:
	// greeters/english on node-1 (LeastLoaded, 1.00) <nil>
	// Hello, Ada! (generation 0.0)
	// placement: no eligible nodes for "greeters/french" among 1: removed by Meta 1
}

// A managed singleton knows its generation, which grows with each instance.
func ExampleCoordinator_StartSingleton() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	node, err := cluster.Start(ctx, cluster.Config{NodeID: "node-1", Journal: journal.NewMemory()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Leave(ctx) //nolint:errcheck // the example is over
	coordinator, err := placement.Start(node, placement.Config{Factories: []placement.Factory{greeters.Factory(greeter)}})
	if err != nil {
		fmt.Println(err)
		return
	}

	spec := greeters.Singleton("doorman", "Welcome", placement.Leader())
	for range 2 {
		if _, err := coordinator.StartSingleton(ctx, spec); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(say(ctx, node, "doorman", "Ada"))
		if err := coordinator.StopSingleton(ctx, "doorman"); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// Welcome, Ada! (generation 1.0)
	// Welcome, Ada! (generation 2.0)
}
