package main

import (
	"fmt"
	"maps"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/singleton"
)

// registerID is the name of the singleton that holds all registers, and its persistence id.
const registerID = "register"

// A Verb is what is done to a register.
type Verb string

// The verbs.
const (
	Get  Verb = "get"
	Put  Verb = "put"
	Swap Verb = "swap" // write New where the value is Old
)

// An Op is one operation on one register. A register holds 0 until it is written, and no value is
// ever written twice.
type Op struct {
	Verb     Verb
	Register string
	Old      uint64 // of Swap
	New      uint64 // of Put and Swap
}

// String returns the operation without its answer.
func (o Op) String() string {
	switch o.Verb {
	case Put:
		return fmt.Sprintf("%s := %d", o.Register, o.New)
	case Swap:
		return fmt.Sprintf("%s: %d -> %d", o.Register, o.Old, o.New)
	case Get:
	}
	return o.Register
}

// An Answer is the result of an operation, with the instance that gave it.
type Answer struct {
	Value      uint64 // before it
	Generation singleton.Generation
}

// Operate requests an operation, which is executed at most once.
type Operate struct {
	Op      Op
	ReplyTo actor.ActorRef[Answer]
}

// Operated is the event of every operation, even of one that changes nothing. Its place in the
// journal proves that no other instance has written since the state was read.
type Operated struct {
	Register string
	Value    uint64 // written; 0 when nothing was
}

// Registers is the state: the value of each register that has been written.
type Registers map[string]uint64

func init() {
	actor.RegisterType[Operate]("nemesis.operate")
	actor.RegisterType[Answer]("nemesis.answer")
	actor.RegisterType[Operated]("nemesis.operated")
	actor.RegisterType[Registers]("nemesis.registers")
}

func onOperated(r Registers, e Operated) Registers {
	if e.Value == 0 {
		return r
	}
	written := maps.Clone(r)
	if written == nil {
		written = make(Registers)
	}
	written[e.Register] = e.Value
	return written
}

// eventOf returns the event of an operation on a register of some value.
func eventOf(o Op, value uint64) Operated {
	if o.Verb == Put || o.Verb == Swap && o.Old == value {
		return Operated{Register: o.Register, Value: o.New}
	}
	return Operated{Register: o.Register}
}

func onOperate(ctx *actor.Context[Operate], r Registers, msg Operate) persistence.Effect[Operated] {
	answer := Answer{Value: r[msg.Op.Register], Generation: singleton.GenerationOf(ctx)}
	return persistence.ThenReply(persistence.Persist(eventOf(msg.Op, answer.Value)), msg.ReplyTo, answer)
}

// operate handles operations; a test replaces it with a wrong handler.
var operate = onOperate

// register is the singleton whose operations, reads included, are linearizable.
func register(journal persistence.Journal) actor.Behavior[Operate] {
	return behaviors.Singleton(func() actor.Behavior[Operate] {
		return behaviors.EventSourced(registerID, journal, nil, onOperated, operate, persistence.Options[Operate, Operated, Registers]{SnapshotEvery: 500})
	})
}
