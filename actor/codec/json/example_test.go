package json_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/codec/json"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

type (
	// Add is a command.
	Add struct {
		Item    string
		ReplyTo actor.ActorRef[int]
	}

	// Added is an event.
	Added struct {
		Item string `json:"item"`
	}
)

func init() {
	actor.RegisterType[Add]("cart.add")
	actor.RegisterType[Added]("cart.added", actor.WithCodec(json.Codec{}))
}

// The events of a cart are stored as JSON.
func Example() {
	ctx := context.Background()
	store := journal.NewMemory()
	cart := behaviors.EventSourced("cart-42", store, 0,
		func(items int, _ Added) int { return items + 1 },
		func(_ *actor.Context[Add], items int, add Add) persistence.Effect[Added] {
			return persistence.Persist(Added{add.Item}).Then(func() { add.ReplyTo.Tell(items + 1) })
		})
	system := actor.NewSystem("shop")
	ref := actor.Spawn(system, cart, "cart")
	fmt.Println(actor.Ask(ctx, ref, func(replyTo actor.ActorRef[int]) Add { return Add{"tea", replyTo} }))
	if err := system.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}

	for record, err := range store.Read(ctx, "cart-42", 1, 1) {
		fmt.Println(record.Type, string(record.Payload[bytes.IndexByte(record.Payload, '{'):]), err)
	}
	// Output:
	// 1 <nil>
	// cart.added {"item":"tea"} <nil>
}
