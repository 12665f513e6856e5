package delivery

import (
	"errors"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/window"
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
	// ErrNotKept: the message of a [Resend] is not among those that the [Queue] of the producer
	// keeps, or the producer has no queue.
	ErrNotKept = errors.New("delivery: the queue keeps no refused message of this number")
	// ErrRefusedFull: the [Queue] keeps as many refused messages as it may. The producer stores
	// no further confirmation until some have been removed.
	ErrRefusedFull = errors.New("delivery: the queue has no room for another refused message")
)

// A Command is what a producer of M understands: [Send], [Connect] and [Resend].
type Command[M any] interface{ command(M) }

// Send gives a message to a producer.
type Send[M any] struct {
	Message   M
	ReplyTo   actor.ActorRef[Accepted]  // is told when the message is on its way; may be zero
	ConfirmTo actor.ActorRef[Confirmed] // is told when the message has been confirmed or refused; may be zero
}

// Accepted is the answer to [Send], when the message is stored, if there is a [Queue], and
// the consumer has room for it; or when the producer ends before.
type Accepted struct {
	Number uint64 // of the message, from 1 on; 0 when it is a dead letter, whose reason says why
}

// Confirmed is another answer to [Send]: what has become of the message. Either a worker has
// confirmed it, and Number is its number; or nobody has handled it and nobody will, and Number
// is 0. Such a message was refused: it cannot be encoded or decoded, it is of a type that the
// consumer does not take, it is too large, it was given up (see [GiveUpAfter]), or there was no
// room for it.
//
// Nobody is told when the producer ends before, and has the message in its [Queue], nor with
// [FlowControlOnly]. With a queue a refusal is told when the queue has stored the message among
// those that were refused.
type Confirmed struct {
	Number  uint64 // of the message, which a worker has confirmed; 0: it was refused
	Refused uint64 // the number of the message that was refused; 0 if it had none, or was confirmed
	Reason  error  // why it was refused; nil: it was confirmed
}

// Resend tells a producer to send again a message that was refused, and that its [Queue]
// keeps. The message gets a new number and its place after those that wait, and the queue
// stops keeping it among the refused ones. When the producer ends in between it may be both.
// With any other number the answers are [Accepted] with 0, and [Confirmed] with [ErrNotKept].
type Resend[M any] struct {
	Number    uint64                    // of the refused message, see [Refused]
	ReplyTo   actor.ActorRef[Accepted]  // as in [Send]
	ConfirmTo actor.ActorRef[Confirmed] // as in [Send]
}

// Connect gives a producer its consumer, in place of the one before it, and a
// [WorkPulling] producer one more. Connecting again what is connected does no harm.
type Connect[M any] struct{ Consumer actor.ActorRef[Link[M]] }

func (Send[M]) command(M)    {}
func (Connect[M]) command(M) {}
func (Resend[M]) command(M)  {}

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

// RegisterType lets [Send], [Connect] and [Resend] of M cross the wire, under names that begin with
// name. Call it from an init function.
func RegisterType[M any](name string) {
	actor.RegisterType[Send[M]](name + ".send")
	actor.RegisterType[Connect[M]](name + ".connect")
	actor.RegisterType[Resend[M]](name + ".resend")
}

func init() {
	for name, err := range map[string]error{
		"understudy/delivery.buffer-full": ErrBufferFull, "understudy/delivery.given-up": ErrGivenUp,
		"understudy/delivery.too-large": ErrTooLarge, "understudy/delivery.too-many": ErrTooMany,
		"understudy/delivery.not-storable": ErrNotStorable, "understudy/delivery.perhaps-stored": ErrPerhapsStored,
		"understudy/delivery.not-kept": ErrNotKept, "understudy/delivery.refused-full": ErrRefusedFull,
	} {
		actor.RegisterError(name, err)
	}
	actor.RegisterType[Accepted]("understudy.delivery.accepted")
	actor.RegisterType[Confirmed]("understudy.delivery.confirmed")
	actor.RegisterType[sequenced]("understudy.delivery.sequenced")
	actor.RegisterType[request]("understudy.delivery.request")
	actor.RegisterType[storedPart](partName)
}

// sequenced is a message on its way, or a part of one.
type sequenced struct {
	_       struct{} `cbor:",toarray"`
	Stream  string   // whose numbers these are
	Aim     uint64   // drawn when the producer began to send to this consumer
	From    actor.ActorRef[request]
	First   uint64 // all before it have been confirmed, or refused, and stored as such in a queue
	Number  uint64
	Serial  uint64 // the producer's number of the message, if it is not Number
	Part    uint64 // its index
	More    bool   // it is not the last part
	Probe   bool   // the consumer is to say what it has not got
	Durable bool   // the stream outlives its producer
	Loose   bool   // it is not sent again; what is missing before it is lost
	Void    bool   // there is nothing to handle
	Payload extension.Payload
	local   any // instead of the payload, within a node
}

func (sequenced) link() {}

// LocalOnly is for extension.WithEncoding: what is local has no payload.
func (s sequenced) LocalOnly() bool { return s.local != nil }

// request says how far a consumer has come, and how far a producer may go.
type request struct {
	_         struct{} `cbor:",toarray"`
	Aim       uint64
	Confirmed uint64 // all up to this number have been handled, but for those of Refused
	Received  uint64
	UpTo      uint64
	Again     bool // what comes after Received has been lost
	Refused   []window.Refusal
}
