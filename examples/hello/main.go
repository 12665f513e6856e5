// Command hello is the smallest program with an actor: it asks a greeter for greetings.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// Greet asks for a greeting of Name.
type Greet struct {
	Name    string
	ReplyTo actor.ActorRef[string]
}

// greeter returns the behavior of a greeter that has greeted n people so far.
func greeter(n int) actor.Behavior[Greet] {
	return behaviors.Receive(func(_ *actor.Context[Greet], msg Greet) actor.Behavior[Greet] {
		msg.ReplyTo.Tell(fmt.Sprintf("Hello, %s! You are number %d.", msg.Name, n+1))
		return greeter(n + 1)
	})
}

func main() {
	ctx := context.Background()
	system := actor.NewSystem("hello")
	ref := actor.Spawn(system, greeter(0), "greeter")
	for _, name := range []string{"Ada", "Carl"} {
		greeting, err := actor.Ask(ctx, ref, func(replyTo actor.ActorRef[string]) Greet { return Greet{name, replyTo} })
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(greeting)
	}
	if err := system.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
}
