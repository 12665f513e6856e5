package failover

import (
	"maps"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/singleton"
)

// Msg is Increment or Get.
//
//sumtype:decl
type Msg interface{ counterMsg() }

type (
	// Increment adds one, once for each ID, however often it is sent.
	Increment struct {
		ID      ID
		ReplyTo actor.ActorRef[Ack]
	}
	// Get asks for everything that has been counted.
	Get struct{ ReplyTo actor.ActorRef[Counted] }
)

func (Increment) counterMsg() {}
func (Get) counterMsg()       {}

// An ID names one increment. A client numbers its increments from 1, and sends the next one when
// the previous one has been acknowledged.
type ID struct {
	Client string
	N      uint64
}

// An Ack says that an increment is in the journal, and which instance wrote it.
type Ack struct {
	ID         ID
	Count      int
	Generation string
}

// Incremented is the event of an increment.
type Incremented struct{ ID ID }

// Counted is the state: the increments in order, and the last number of each client, which
// identifies increments that are sent again.
type Counted struct {
	Applied []ID
	Last    map[string]uint64
}

func init() {
	actor.RegisterType[Increment]("failover.increment")
	actor.RegisterType[Get]("failover.get")
	actor.RegisterType[Ack]("failover.ack")
	actor.RegisterType[Incremented]("failover.incremented")
	actor.RegisterType[Counted]("failover.counted")
}

func onEvent(s Counted, e Incremented) Counted {
	last := maps.Clone(s.Last)
	if last == nil {
		last = make(map[string]uint64)
	}
	last[e.ID.Client] = e.ID.N
	return Counted{Applied: append(s.Applied, e.ID), Last: last}
}

func onCommand(ctx *actor.Context[Msg], s Counted, msg Msg) persistence.Effect[Incremented] {
	switch msg := msg.(type) {
	case Increment:
		ack := Ack{ID: msg.ID, Count: len(s.Applied), Generation: singleton.GenerationOf(ctx).String()}
		if s.Last[msg.ID.Client] >= msg.ID.N { // sent again: it is in the journal
			msg.ReplyTo.Tell(ack)
			return persistence.None
		}
		ack.Count++
		return persistence.Persist(Incremented{ID: msg.ID}).Then(func() { msg.ReplyTo.Tell(ack) })
	case Get:
		msg.ReplyTo.Tell(s)
		return persistence.None
	}
	return persistence.Unhandled
}

// counter returns the factory of the singleton, which is id in the journal.
func counter(id string, journal persistence.Journal) func() actor.Behavior[Msg] {
	return func() actor.Behavior[Msg] {
		return behaviors.EventSourced(id, journal, Counted{}, onEvent, onCommand,
			persistence.Options[Msg, Incremented, Counted]{SnapshotEvery: 500})
	}
}
