package persistence_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A customer asks to be deleted. Afterwards nothing writes under that id unless the program says
// so.
func ExampleForget() {
	type rename struct {
		Name    string
		ReplyTo actor.ActorRef[string]
	}
	store := journal.NewMemory()
	customer := func() actor.Behavior[rename] {
		return behaviors.EventSourced("customer-7", store, "nobody", func(_, event string) string { return event },
			func(_ *actor.Context[rename], before string, cmd rename) persistence.Effect[string] {
				return persistence.ThenReply(persistence.Persist(cmd.Name), cmd.ReplyTo, before+" became "+cmd.Name)
			})
	}
	ctx := context.Background()
	system := actor.NewSystem("shop")
	say := func(ref actor.ActorRef[rename], name string) {
		reply, err := actor.Ask(ctx, ref, func(r actor.ActorRef[string]) rename { return rename{name, r} })
		if err != nil {
			reply = "no"
		}
		fmt.Println(reply)
	}
	running := actor.Spawn(system, customer(), "")
	say(running, "Alice")

	fmt.Println(persistence.Forget(ctx, store, "customer-7"))
	say(running, "Bob")                             // it is fenced
	say(actor.Spawn(system, customer(), ""), "Eve") // the id is forgotten

	fmt.Println(persistence.Revive(ctx, store, "customer-7"))
	say(actor.Spawn(system, customer(), ""), "Carol")
	fmt.Println(system.Shutdown(ctx))
	// Output:
	// nobody became Alice
	// <nil>
	// no
	// no
	// <nil>
	// nobody became Carol
	// <nil>
}
