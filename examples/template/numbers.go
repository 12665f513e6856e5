package main

import (
	iradix "github.com/hashicorp/go-immutable-radix/v2"

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

// An Invoices is the state: the number of each order. A change makes a new tree, which shares
// almost all of the old one.
type Invoices = iradix.Tree[int]

// numbers gives each order the next number, and the same number when it asks again. It stores each
// number in the journal before it replies. One instance runs in the whole cluster.
func numbers(journal persistence.Journal) actor.Behavior[Request] {
	return behaviors.Singleton(func() actor.Behavior[Request] {
		return behaviors.EventSourced("numbers", journal, iradix.New[int](), onIssued, onRequest)
	}, singleton.AtLeastOnce(100))
}

func onIssued(issued *Invoices, event Issued) *Invoices {
	issued, _, _ = issued.Insert([]byte(event.Order), issued.Len()+1)
	return issued
}

func onRequest(_ *actor.Context[Request], issued *Invoices, msg Request) persistence.Effect[Issued] {
	if number, ok := issued.Get([]byte(msg.Order)); ok {
		return persistence.Reply[Issued](msg.ReplyTo, number)
	}
	return persistence.ThenReply(persistence.Persist(Issued{msg.Order}), msg.ReplyTo, issued.Len()+1)
}
