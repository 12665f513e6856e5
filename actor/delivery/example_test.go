package delivery_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// One producer, one consumer, on the same node or on two.
func ExampleProducer() {
	system := actor.NewSystem("shop")
	defer func() { _ = system.Shutdown(context.Background()) }()
	done := make(chan struct{})
	billing := behaviors.Receive(func(_ *actor.Context[delivery.Delivery[string]], d delivery.Delivery[string]) actor.Behavior[delivery.Delivery[string]] {
		fmt.Println("billed", d.Number, d.Message)
		d.Confirm()
		if d.Number == 2 {
			close(done)
		}
		return behaviors.Same
	})
	orders := actor.Spawn(system, delivery.Producer[string](), "orders")
	orders.Tell(delivery.Connect[string]{Consumer: actor.Spawn(system, delivery.Consumer(billing), "billing")})
	orders.Tell(delivery.Send[string]{Message: "books"})
	orders.Tell(delivery.Send[string]{Message: "pens"})
	<-done
	// Output:
	// billed 1 books
	// billed 2 pens
}

// printer is a worker that prints.
func printer(printed chan<- string) actor.Behavior[delivery.Delivery[string]] {
	return behaviors.Receive(func(_ *actor.Context[delivery.Delivery[string]], d delivery.Delivery[string]) actor.Behavior[delivery.Delivery[string]] {
		printed <- d.Message
		d.Confirm()
		return behaviors.Same
	})
}

// Each message goes to one of several workers.
func ExampleWorkPulling() {
	system := actor.NewSystem("press")
	defer func() { _ = system.Shutdown(context.Background()) }()
	jobs := actor.Spawn(system, delivery.WorkPulling[string](), "jobs")
	printed := make(chan string)
	for range 3 {
		jobs.Tell(delivery.Connect[string]{Consumer: actor.Spawn(system, delivery.Consumer(printer(printed)), "")})
	}
	for _, page := range []string{"one", "two", "three"} {
		jobs.Tell(delivery.Send[string]{Message: page})
	}
	for range 3 {
		fmt.Println(<-printed)
	}
	// Unordered output:
	// one
	// two
	// three
}

// The producer finds the workers of a cluster by a key. They may start before or after the
// producer, on any node.
func ExampleWorkPullingFor() {
	system := actor.NewSystem("press") // or a node of a cluster
	defer func() { _ = system.Shutdown(context.Background()) }()
	printers := delivery.NewKey[string]("printers")
	jobs := actor.Spawn(system, delivery.WorkPullingFor(printers), "jobs")
	jobs.Tell(delivery.Send[string]{Message: "one"})
	printed := make(chan string)
	actor.Spawn(system, delivery.Serve(printers, printer(printed)), "printer")
	fmt.Println(<-printed)
	// Output: one
}

// A sender that asks goes no faster than the consumer, and learns which messages were refused.
func ExampleSend() {
	system := actor.NewSystem("shop")
	defer func() { _ = system.Shutdown(context.Background()) }()
	orders := actor.Spawn(system, delivery.Producer[string](delivery.ChunkAbove(1000), delivery.MaxBytes(5000)), "orders")
	printed := make(chan string, 10)
	orders.Tell(delivery.Connect[string]{Consumer: actor.Spawn(system, delivery.Consumer(printer(printed)), "billing")})
	for _, order := range []string{"books", string(make([]byte, 3000)), string(make([]byte, 8000))} {
		accepted, err := actor.Ask(context.Background(), orders, func(replyTo actor.ActorRef[delivery.Accepted]) delivery.Command[string] {
			return delivery.Send[string]{Message: order, ReplyTo: replyTo}
		})
		fmt.Println(len(order), "bytes:", accepted.Number, err)
	}
	// Output:
	// 5 bytes: 1 <nil>
	// 3000 bytes: 5 <nil>
	// 8000 bytes: 0 <nil>
}
