package carts

import (
	"slices"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
)

// CartMsg is Add or List.
//
//sumtype:decl
type CartMsg interface{ cartMsg() }

type (
	// Add adds an item. It is answered when the item is stored. An item that is in the cart is
	// not added again, so a customer who got no answer may repeat it.
	Add struct {
		Item    string
		ReplyTo actor.ActorRef[bool]
	}
	// List asks for the items.
	List struct{ ReplyTo actor.ActorRef[[]string] }
)

func (Add) cartMsg()  {}
func (List) cartMsg() {}

// Added is the event of a cart.
type Added struct{ Item string }

func init() {
	actor.RegisterType[Add]("carts.add")
	actor.RegisterType[List]("carts.list")
	actor.RegisterType[Added]("carts.added")
}

// cart returns the factory of carts whose items are in the journal.
func cart(journal persistence.Journal) func(sharding.Entity) actor.Behavior[CartMsg] {
	return func(e sharding.Entity) actor.Behavior[CartMsg] {
		return behaviors.EventSourced(e.PersistenceID(), journal, []string(nil), add, handle)
	}
}

func add(items []string, e Added) []string { return append(items, e.Item) }

func handle(_ *actor.Context[CartMsg], items []string, msg CartMsg) persistence.Effect[Added] {
	switch msg := msg.(type) {
	case Add:
		if slices.Contains(items, msg.Item) {
			msg.ReplyTo.Tell(true)
			return persistence.None
		}
		return persistence.Persist(Added{Item: msg.Item}).Then(func() { msg.ReplyTo.Tell(true) })
	case List:
		msg.ReplyTo.Tell(slices.Clone(items))
		return persistence.None
	}
	return persistence.Unhandled
}
