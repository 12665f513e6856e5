package persistence_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A client whose reply was lost sends its payment again, with the same key. It gets the receipt of
// the first one, also from another instance.
func ExampleOnce() {
	type pay struct {
		Key     string
		Cents   int
		ReplyTo actor.ActorRef[string]
	}
	ctx, store := context.Background(), journal.NewMemory()
	for _, key := range []string{"order-1", "order-2", "order-1"} {
		system := actor.NewSystem("bank")
		account := behaviors.EventSourced("account-1", store, 100,
			func(left, cents int) int { return left - cents },
			func(_ *actor.Context[pay], left int, msg pay) persistence.Effect[int] {
				if msg.Cents > left {
					return persistence.Reply[int](msg.ReplyTo, "too little is left")
				}
				receipt := fmt.Sprintf("%s paid, %d left", msg.Key, left-msg.Cents)
				return persistence.Once(msg.Key, persistence.ThenReply(persistence.Persist(msg.Cents), msg.ReplyTo, receipt))
			})
		ref := actor.Spawn(system, account, "account")
		fmt.Println(actor.Ask(ctx, ref, func(r actor.ActorRef[string]) pay { return pay{key, 30, r} }))
		if err := system.Shutdown(ctx); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// order-1 paid, 70 left <nil>
	// order-2 paid, 40 left <nil>
	// order-1 paid, 70 left <nil>
}
