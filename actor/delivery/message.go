package delivery

import (
	"errors"

	"github.com/understudy-go/understudy/actor"
)

// Why a message was given up; the reasons of dead letters.
var (
	// ErrBufferFull: more messages wait in the producer than [Buffer] allows.
	ErrBufferFull = errors.New("delivery: too many messages wait in the producer")
	// ErrGivenUp: the worker has failed at the message ten times.
	ErrGivenUp = errors.New("delivery: the worker has failed at the message too often")
)

// A Command is what a producer of M understands: [Send] and [Connect].
type Command[M any] interface{ command(M) }

// Send gives a message to a producer.
type Send[M any] struct {
	Message M
	ReplyTo actor.ActorRef[Accepted] // is told when the message is on its way; may be zero
}

// Accepted is the answer to [Send], when the message is stored, if there is a [Queue], and
// the consumer has room for it.
type Accepted struct {
	Number uint64 // of the message, from 1 on; 0 when it was refused, and is a dead letter
}

// Connect gives a producer its consumer, in place of the one before it, and a
// [WorkPulling] producer one more. Connecting again what is connected does no harm.
type Connect[M any] struct{ Consumer actor.ActorRef[Link[M]] }

func (Send[M]) command(M)    {}
func (Connect[M]) command(M) {}

// A Link is what producers tell consumers of M. It has nothing for users.
type Link[M any] interface{ link() }

// A Delivery is a message for the worker of a consumer.
type Delivery[M any] struct {
	Message M
	Number  uint64 // its producer's; unlike others, the message has the same one if it comes again
	confirm func()
}

// Confirm says that the message has been handled: it never comes again, and the next one
// does. It may be called by any goroutine, and more than once.
func (d Delivery[M]) Confirm() { d.confirm() }

// RegisterType lets [Send] and [Connect] of M cross the wire, under names that begin with
// name. Call it from an init function.
func RegisterType[M any](name string) {
	actor.RegisterType[Send[M]](name + ".send")
	actor.RegisterType[Connect[M]](name + ".connect")
}

func init() {
	actor.RegisterType[Accepted]("understudy.delivery.accepted")
	actor.RegisterType[sequenced]("understudy.delivery.sequenced")
	actor.RegisterType[request]("understudy.delivery.request")
}

// sequenced is a message on its way.
type sequenced struct {
	_       struct{} `cbor:",toarray"`
	Stream  string   // whose numbers these are
	Aim     uint64   // drawn when the producer began to send to this consumer
	From    actor.ActorRef[request]
	First   uint64 // all before it have been confirmed
	Number  uint64
	Probe   bool // the consumer is to say what it has not got
	Durable bool // the stream outlives its producer
	Void    bool // there is nothing to handle
	Payload actor.Payload
	local   any // instead of the payload, within a node
}

func (sequenced) link() {}

// request says how far a consumer has come, and how far a producer may go.
type request struct {
	_         struct{} `cbor:",toarray"`
	Aim       uint64
	Confirmed uint64
	Received  uint64
	UpTo      uint64
	Again     bool // what comes after Received has been lost
}
