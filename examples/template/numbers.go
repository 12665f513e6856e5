package main

import (
	"maps"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/singleton"
)

// A Request asks for the invoice number of an order.
type Request struct {
	Order   string
	ReplyTo actor.ActorRef[int]
}

// Issued is the event that the journal stores: an order has been given the next number.
type Issued struct{ Order string }

func init() {
	actor.RegisterType[Request]("shop.request")
	actor.RegisterType[Issued]("shop.issued")
}

// numbers gives each order the next number, and the same number when it asks again. It stores each
// number in the journal before it replies. One instance runs in the whole cluster.
func numbers(journal persistence.Journal) actor.Behavior[Request] {
	return behaviors.Singleton(func() actor.Behavior[Request] {
		return behaviors.EventSourced("numbers", journal, map[string]int{}, onIssued, onRequest)
	}, singleton.AtLeastOnce(100))
}

func onIssued(issued map[string]int, event Issued) map[string]int {
	issued = maps.Clone(issued)
	issued[event.Order] = len(issued) + 1
	return issued
}

func onRequest(_ *actor.Context[Request], issued map[string]int, msg Request) persistence.Effect[Issued] {
	if number, ok := issued[msg.Order]; ok {
		return persistence.Reply[Issued](msg.ReplyTo, number)
	}
	return persistence.ThenReply(persistence.Persist(Issued{msg.Order}), msg.ReplyTo, len(issued)+1)
}
