package behaviors_test

import (
	"context"
	"fmt"
	"maps"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A Buy puts an item on a shopping list, once.
type Buy struct {
	Item    string
	ReplyTo actor.ActorRef[string]
}

// ItemAdded is the event of a shopping list.
type ItemAdded struct{ Item string }

func init() { actor.RegisterType[ItemAdded]("example.item-added") }

func addItem(list map[string]bool, event ItemAdded) map[string]bool {
	list = maps.Clone(list)
	list[event.Item] = true
	return list
}

func buy(_ *actor.Context[Buy], list map[string]bool, msg Buy) persistence.Effect[ItemAdded] {
	if list[msg.Item] {
		msg.ReplyTo.Tell(msg.Item + " is on the list")
		return persistence.None
	}
	return persistence.ThenReply(persistence.Persist(ItemAdded{msg.Item}), msg.ReplyTo, msg.Item+" added")
}

// A shopping list remembers its items when it is started again, because the journal has its events.
func ExampleEventSourced() {
	store := journal.NewMemory()
	for range 2 {
		system := actor.NewSystem("example")
		list := actor.Spawn(system, behaviors.EventSourced("list-ann", store, map[string]bool{}, addItem, buy), "ann")
		fmt.Println(actor.Ask(context.Background(), list, func(r actor.ActorRef[string]) Buy { return Buy{"milk", r} }))
		shutdown(system)
	}
	// Output:
	// milk added <nil>
	// milk is on the list <nil>
}
