package delivery

import (
	"errors"

	"github.com/understudy-go/understudy/actor"
)

// Why a message was given up; the reasons of dead letters.
var (
	// ErrBufferFull: more messages wait in the producer than [Buffer] allows.
	ErrBufferFull = errors.New("delivery: too many messages wait in the producer")
	// ErrGivenUp: the worker has failed at the message as often as [GiveUpAfter] allows.
	ErrGivenUp = errors.New("delivery: the worker has failed at the message too often")
	// ErrTooLarge: the message needs more bytes than [MaxBytes] allows, or than the transport
	// carries at once.
	ErrTooLarge = errors.New("delivery: the message is too large")
	// ErrTooMany: the producer sends more than the consumer has asked for, and would not send
	// it again.
	ErrTooMany = errors.New("delivery: more messages than the consumer has room for")
	// ErrNotStorable: the [Queue] cannot store the message, however often it is asked.
	ErrNotStorable = errors.New("delivery: the queue cannot store the message")
	// ErrPerhapsStored: the producer has ended while it stored the message. If it is stored,
	// the next producer with the queue sends it.
	ErrPerhapsStored = errors.New("delivery: the producer ended while it stored the message, which perhaps is stored")
)

// A Command is what a producer of M understands: [Send] and [Connect].
type Command[M any] interface{ command(M) }

// Send gives a message to a producer.
type Send[M any] struct {
	Message   M
	ReplyTo   actor.ActorRef[Accepted]  // is told when the message is on its way; may be zero
	ConfirmTo actor.ActorRef[Confirmed] // is told when the message has been confirmed; may be zero
}

// Accepted is the answer to [Send], when the message is stored, if there is a [Queue], and
// the consumer has room for it; or when the producer ends before.
type Accepted struct {
	Number uint64 // of the message, from 1 on; 0 when it is a dead letter, whose reason says why
}

// Confirmed is another answer to [Send], when a worker has confirmed the message, or has given
// it up: see [GiveUpAfter]. Nobody is told when the producer ends before, and has the message
// in its [Queue], nor with [FlowControlOnly].
type Confirmed struct {
	Number uint64 // of the message; 0 when it is a dead letter, whose reason says why
}

// Connect gives a producer its consumer, in place of the one before it, and a
// [WorkPulling] producer one more. Connecting again what is connected does no harm.
type Connect[M any] struct{ Consumer actor.ActorRef[Link[M]] }

func (Send[M]) command(M)    {}
func (Connect[M]) command(M) {}

// A Link is what producers tell consumers of M. It has nothing for users.
type Link[M any] interface{ link() }

// A Delivery is a message for the worker of a consumer. One that was made by somebody else
// confirms nothing.
type Delivery[M any] struct {
	Message M
	Number  uint64 // given by the producer; the message has the same one if it comes again
	attempt *attempt
	confirm func()
}

// Confirm says that the message has been handled: it never comes again, and the next one
// does. It may be called by any goroutine, and more than once.
func (d Delivery[M]) Confirm() {
	if d.confirm != nil {
		d.confirm()
	}
}

// RegisterType lets [Send] and [Connect] of M cross the wire, under names that begin with
// name. Call it from an init function.
func RegisterType[M any](name string) {
	actor.RegisterType[Send[M]](name + ".send")
	actor.RegisterType[Connect[M]](name + ".connect")
}

func init() {
	for name, err := range map[string]error{
		"understudy/delivery.buffer-full": ErrBufferFull, "understudy/delivery.given-up": ErrGivenUp,
		"understudy/delivery.too-large": ErrTooLarge, "understudy/delivery.too-many": ErrTooMany,
		"understudy/delivery.not-storable": ErrNotStorable, "understudy/delivery.perhaps-stored": ErrPerhapsStored,
	} {
		actor.RegisterError(name, err)
	}
	actor.RegisterType[Accepted]("understudy.delivery.accepted")
	actor.RegisterType[Confirmed]("understudy.delivery.confirmed")
	actor.RegisterType[sequenced]("understudy.delivery.sequenced")
	actor.RegisterType[request]("understudy.delivery.request")
	actor.RegisterType[storedPart]("understudy.delivery.part")
}

// sequenced is a message on its way, or a part of one.
type sequenced struct {
	_       struct{} `cbor:",toarray"`
	Stream  string   // whose numbers these are
	Aim     uint64   // drawn when the producer began to send to this consumer
	From    actor.ActorRef[request]
	First   uint64 // all before it have been confirmed
	Number  uint64
	Serial  uint64 // the producer's number of the message, if it is not Number
	Part    uint64 // its index
	More    bool   // it is not the last part
	Probe   bool   // the consumer is to say what it has not got
	Durable bool   // the stream outlives its producer
	Loose   bool   // it is not sent again; what is missing before it is lost
	Void    bool   // there is nothing to handle
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
