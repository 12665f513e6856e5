package router_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/actor/router"
	behaviors "github.com/understudy-go/understudy/behavior"
)

type square struct {
	N       int
	ReplyTo actor.ActorRef[string]
}

func squarer() actor.Behavior[square] {
	return behaviors.Receive(func(ctx *actor.Context[square], s square) actor.Behavior[square] {
		s.ReplyTo.Tell(fmt.Sprintf("%s: %d", name(ctx.Self()), s.N*s.N))
		return behaviors.Same
	})
}

// Three actors share the work, in turn.
func ExamplePool() {
	system := actor.NewSystem("example")
	defer func() { _ = system.Shutdown(context.Background()) }()
	pool := actor.Spawn(system, router.Pool(3, squarer()), "squarers")
	for n := range 4 {
		fmt.Println(actor.Ask(context.Background(), pool, func(r actor.ActorRef[string]) square { return square{n, r} }))
	}
	// Output:
	// routee-1: 0 <nil>
	// routee-2: 1 <nil>
	// routee-3: 4 <nil>
	// routee-1: 9 <nil>
}

// All registered actors get the messages, whichever nodes they are on.
func ExampleGroup() {
	system := actor.NewSystem("example")
	defer func() { _ = system.Shutdown(context.Background()) }()
	squarers := receptionist.NewKey[square]("squarers")
	receptionist.Register(system, squarers, actor.Spawn(system, squarer(), "ada"))

	group := actor.Spawn(system, router.Group(squarers), "anybody")
	fmt.Println(actor.Ask(context.Background(), group, func(r actor.ActorRef[string]) square { return square{7, r} }))
	// Output: ada: 49 <nil>
}

// Messages of the same key go to the same routee, so they stay in order.
func ExampleConsistentHashing() {
	system := actor.NewSystem("example")
	defer func() { _ = system.Shutdown(context.Background()) }()
	type entry struct{ Account, Text string }
	written := make(chan string)
	writer := behaviors.Receive(func(_ *actor.Context[entry], e entry) actor.Behavior[entry] {
		written <- e.Text
		return behaviors.Same
	})
	pool := actor.Spawn(system, router.Pool(8, writer,
		router.ConsistentHashing(func(e entry) string { return e.Account })), "writers")
	for _, text := range []string{"first", "second", "third"} {
		pool.Tell(entry{"account-1", text})
	}
	fmt.Println(<-written, <-written, <-written)
	// Output: first second third
}
