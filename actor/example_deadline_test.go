package actor_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// A cook offers what is ready in time. Without a second for cooking there is bread.
func ExampleDeadline() {
	type meal struct{ replyTo actor.ActorRef[string] }
	system := actor.NewSystem("example")
	cook := actor.Spawn(system, behaviors.Receive(func(ctx *actor.Context[meal], m meal) actor.Behavior[meal] {
		if ends, ok := actor.Deadline(ctx); ok && time.Until(ends) < time.Second {
			m.replyTo.Tell("bread")
		} else {
			m.replyTo.Tell("soup")
		}
		return behaviors.Same
	}), "cook")
	order := func(r actor.ActorRef[string]) meal { return meal{r} }
	fmt.Println(actor.AskTimeout(context.Background(), cook, time.Minute, order))
	fmt.Println(actor.AskTimeout(context.Background(), cook, 900*time.Millisecond, order))
	fmt.Println(system.Shutdown(context.Background()))
	// Output:
	// soup <nil>
	// bread <nil>
	// <nil>
}

// A request whose ask has ended is not handled, and the ask knows it. It is safe to ask again.
func ExampleAskTimeout_withdrawn() {
	type job struct{ replyTo actor.ActorRef[string] }
	system, free := actor.NewSystem("example"), make(chan struct{})
	worker := actor.Spawn(system, behaviors.Receive(func(_ *actor.Context[job], j job) actor.Behavior[job] {
		if j.replyTo == (actor.ActorRef[string]{}) {
			<-free // it is busy with something else
			return behaviors.Same
		}
		fmt.Println("never printed")
		return behaviors.Same
	}), "worker")
	worker.Tell(job{})
	_, err := actor.AskTimeout(context.Background(), worker, 10*time.Millisecond, func(r actor.ActorRef[string]) job { return job{r} })
	close(free)
	fmt.Println(errors.Is(err, context.DeadlineExceeded), errors.Is(err, actor.ErrWithdrawn))
	fmt.Println(system.Shutdown(context.Background()))
	// Output:
	// true true
	// <nil>
}
