package receptionist_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	behaviors "github.com/understudy-go/understudy/behavior"
)

type greet struct {
	Name    string
	ReplyTo actor.ActorRef[string]
}

var greeters = receptionist.NewKey[greet]("greeters")

func greeter() actor.Behavior[greet] {
	return behaviors.Receive(func(_ *actor.Context[greet], g greet) actor.Behavior[greet] {
		g.ReplyTo.Tell("hello, " + g.Name)
		return behaviors.Same
	})
}

// A client finds a greeter by its service, without knowing its path.
func ExampleFind() {
	system := actor.NewSystem("example")
	defer func() { _ = system.Shutdown(context.Background()) }()
	receptionist.Register(system, greeters, actor.Spawn(system, greeter(), "anybody"))

	for _, ref := range receptionist.Find(system, greeters).Reachable() {
		fmt.Println(actor.Ask(context.Background(), ref, func(r actor.ActorRef[string]) greet { return greet{"Ada", r} }))
	}
	// Output: hello, Ada <nil>
}

// An actor gets the listing after every change.
func ExampleSubscribe() {
	system := actor.NewSystem("example")
	defer func() { _ = system.Shutdown(context.Background()) }()
	found := make(chan int)
	actor.Spawn(system, behaviors.Setup(func(ctx *actor.Context[receptionist.Listing[greet]]) actor.Behavior[receptionist.Listing[greet]] {
		ctx.Defer(receptionist.Subscribe(ctx.System(), greeters, ctx.Self()))
		return behaviors.Receive(func(_ *actor.Context[receptionist.Listing[greet]], l receptionist.Listing[greet]) actor.Behavior[receptionist.Listing[greet]] {
			found <- len(l.Instances)
			return behaviors.Same
		})
	}), "watcher")

	fmt.Println(<-found, "greeters")
	actor.Spawn(system, behaviors.Discoverable(greeters, greeter()), "anybody")
	fmt.Println(<-found, "greeters")
	// Output:
	// 0 greeters
	// 1 greeters
}
