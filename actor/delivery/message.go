package delivery

import (
	"errors"
	"strconv"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/window"
)

// Why a message will not be handled. These are reasons of dead letters.
var (
	// ErrBufferFull: as many messages wait in the producer as [Buffer] allows. Wait for Accepted
	// before you send the next message, connect more workers, or raise it.
	ErrBufferFull = errors.New("delivery: too many messages wait in the producer")
	// ErrGivenUp: the worker has failed at the message [Attempts] times; the last failure is
	// wrapped too. Repair the worker. A queue keeps the message: send it again with [Resend].
	ErrGivenUp = errors.New("delivery: the worker has failed at the message too often")
	// ErrTooLarge: the message needs more bytes than [MaxBytes] allows, or than the transport
	// carries in one message. Use [ChunkAbove], or raise MaxBytes of producer and consumer.
	ErrTooLarge = errors.New("delivery: the message is too large")
	// ErrTooMany: the producer sends more messages than the consumer has asked for, and would not
	// send this one again. Look for a program that sends such messages by itself.
	ErrTooMany = errors.New("delivery: more messages than the consumer has room for")
	// ErrNotStorable: the [Queue] can never store the message: it is too large for a record of the
	// journal, or cannot be encoded. Send less at once, use [ChunkAbove], or register the type.
	ErrNotStorable = errors.New("delivery: the queue cannot store the message")
	// ErrPerhapsStored: the producer has ended while it stored the message. If it is stored, the
	// next producer with the queue sends it. Send it again, and let the receiver recognise
	// duplicates.
	ErrPerhapsStored = errors.New("delivery: the producer ended while it stored the message, which perhaps is stored")
	// ErrNotKept: the [Queue] of the producer does not keep the message of a [Resend], or the
	// producer has no queue. Take the number from the List of the queue.
	ErrNotKept = errors.New("delivery: the queue keeps no refused message of this number")
	// ErrNoReceiver: the function of [ProducerByID] has found no receiver for the id. It wraps the
	// reason. Check the id; send again if the function can fail for a while.
	ErrNoReceiver = errors.New("delivery: no receiver has the id")
	// ErrRefusedFull: the [Queue] keeps as many refused messages as it may, so the producer waits.
	// Resend or remove them; [MaxRefused] raises the limit.
	ErrRefusedFull = errors.New("delivery: the queue has no room for another refused message")
)

// A Command is a message to a producer of M: [Send], [Connect] or [Resend].
type Command[M any] interface{ command(M) }

// Send gives a message to a producer.
type Send[M any] struct {
	To        string // the id of the receiver, for a producer of [ProducerByID]; others ignore it
	Message   M
	ReplyTo   actor.ActorRef[Accepted]  // gets Accepted when the message can be sent; may be zero
	ConfirmTo actor.ActorRef[Confirmed] // gets Confirmed when the message was handled or refused; may be zero
}

// Accepted is the answer to [Send]. It comes when the message is stored (if there is a [Queue]) and
// the consumer has room for it, or when the producer ends before that.
type Accepted struct {
	Number uint64 // of the message, from 1 on; 0 if it became a dead letter, whose reason says why
}

// Confirmed is the second answer to [Send]: the outcome of the message. Either a worker has
// confirmed it, and Number is its number; or it was refused, and Number is 0: no worker has handled
// it, and none will. A message is refused when it cannot be encoded or decoded, has a type that the
// consumer does not take, is too large, was given up (see [Attempts]), or found the buffer full.
//
// There is no Confirmed with [FlowControlOnly], nor when the producer ends first and the message is
// in its [Queue]. With a queue, a refusal is answered when the queue has stored the refused
// message.
type Confirmed struct {
	Number  uint64 // of the confirmed message; 0: it was refused
	Refused uint64 // the number of the refused message; 0 if it had none, or was confirmed
	Reason  error  // why it was refused; nil: it was confirmed
}

// Resend tells a producer to send a refused message again that its [Queue] keeps. The message gets
// a new number and a place after the messages that wait; then the queue removes it from the refused
// messages. If the producer ends in between, the message may be in both places. For any other
// number the answers are [Accepted] with 0, and [Confirmed] with [ErrNotKept].
type Resend[M any] struct {
	Number    uint64                    // of the refused message, see [Refused]
	ReplyTo   actor.ActorRef[Accepted]  // as in [Send]
	ConfirmTo actor.ActorRef[Confirmed] // as in [Send]
}

// Connect gives a producer its consumer, which replaces the one before; a [WorkPulling] producer
// gets one more. Connecting the same consumer again is harmless.
type Connect[M any] struct{ Consumer actor.ActorRef[Link[M]] }

func (Send[M]) command(M)    {}
func (Connect[M]) command(M) {}
func (Resend[M]) command(M)  {}

// A Link is a message from a producer to a consumer of M. Users neither send nor handle it.
type Link[M any] interface{ link() }

// Direct passes a message to the worker of a consumer without a producer, for example a question.
// It is sent like a plain message, at most once, and does not wait behind messages that have not
// been confirmed. The [Delivery] has the Number 0, and its Confirm does nothing.
type Direct[M any] struct{ Message M }

func (Direct[M]) link() {}

// A Delivery is a message for the worker of a consumer.
//
// If the message comes again, it has the same Numbering and Number. The numbers of one Numbering
// ascend, except with [WorkPulling]. A persistent worker gives its Key to persistence.Once, so that
// it handles the message once.
type Delivery[M any] struct {
	Message   M
	Number    uint64 // given by the producer; 0 for a [Direct] message
	Numbering string // of the producer: the ID of its queue; without one, a new name each time it starts
	attempt   *attempt
	confirm   func()
}

// Key returns a text that this message has each time it comes, and no other message has, for
// persistence.Once. It is empty for a [Direct] message, which comes at most once.
func (d Delivery[M]) Key() string {
	if d.Number == 0 {
		return ""
	}
	return d.Numbering + "/" + strconv.FormatUint(d.Number, 10)
}

// Confirm reports that the message was handled: this consumer does not deliver it again, and
// delivers the next one. It may be called by any goroutine, and more than once. On a Delivery that
// no consumer made it does nothing.
func (d Delivery[M]) Confirm() {
	if d.confirm != nil {
		d.confirm()
	}
}

// RegisterType lets [Send], [Connect], [Resend] and [Direct] of M cross the wire, under the names
// name.send, name.connect, name.resend and name.direct. Call it from an init function.
func RegisterType[M any](name string) {
	actor.RegisterType[Send[M]](name + ".send")
	actor.RegisterType[Connect[M]](name + ".connect")
	actor.RegisterType[Resend[M]](name + ".resend")
	actor.RegisterType[Direct[M]](name + ".direct")
}

func init() {
	for name, err := range map[string]error{
		"understudy/delivery.buffer-full": ErrBufferFull, "understudy/delivery.given-up": ErrGivenUp,
		"understudy/delivery.too-large": ErrTooLarge, "understudy/delivery.too-many": ErrTooMany,
		"understudy/delivery.not-storable": ErrNotStorable, "understudy/delivery.perhaps-stored": ErrPerhapsStored,
		"understudy/delivery.not-kept": ErrNotKept, "understudy/delivery.refused-full": ErrRefusedFull,
		"understudy/delivery.no-receiver": ErrNoReceiver,
	} {
		actor.RegisterError(name, err)
	}
	actor.RegisterType[Accepted]("understudy.delivery.accepted")
	actor.RegisterType[Confirmed]("understudy.delivery.confirmed")
	actor.RegisterType[sequenced]("understudy.delivery.sequenced")
	actor.RegisterType[request]("understudy.delivery.request")
	actor.RegisterType[storedPart](partName)
	actor.RegisterType[storedTo](toName)
}

type sequenced struct {
	_          struct{} `cbor:",toarray"`
	Stream     string   // the stream that First and Number count
	Connection uint64   // drawn at random when the producer connected to this consumer
	From       actor.ActorRef[request]
	First      uint64 // all before it are confirmed or refused, and stored as such in a queue
	Number     uint64
	Serial     uint64 // the producer's number of the message, if it differs from Number
	Part       uint64
	More       bool // it is not the last part
	Probe      bool // the consumer answers with what it has received
	Durable    bool // the stream outlives its producer, which has a queue
	FlowOnly   bool // it is not sent again, and messages missing before it are lost
	Void       bool // there is nothing to handle
	ByID       bool // the producer sends by an id
	Payload    extension.Payload
	local      any `cbor:"-"` // instead of the payload, within a node
}

func (sequenced) link() {}

// LocalOnly is for extension.WithEncoding: a local message has no payload.
func (s sequenced) LocalOnly() bool { return s.local != nil }

// request says how far a consumer has come, and how far its producer may go.
type request struct {
	_          struct{} `cbor:",toarray"`
	Connection uint64
	Confirmed  uint64 // all up to this number were handled, except those of Refused
	Received   uint64 // all up to this number were received
	UpTo       uint64 // the highest number that the producer may send
	Again      bool   // messages after Received were lost
	Refused    []window.Refusal
}

// Messages between producers, consumers and queues do not become dead letters: the producer keeps
// the messages of users, and asks again for answers that are lost.

type noPayload struct{}

func (noPayload) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// With [FlowControlOnly] the message is lost.
func (s sequenced) Carried(sys *actor.System) (string, any, bool) {
	if !s.FlowOnly || s.Void {
		return "", nil, false
	}
	msg := s.local
	if s.Payload.Type != "" {
		var err error
		if msg, err = extension.Unpack(sys, s.Payload); err != nil {
			msg = s.Payload
		}
	}
	return "consumer of " + s.From.Path(), msg, true
}

func (request) Carried(*actor.System) (string, any, bool) { return "", nil, false }

type confirmation struct {
	_       struct{} `cbor:",toarray"`
	Number  uint64
	Refused uint64
	Reason  extension.ErrorPayload
}

// MarshalCBOR encodes the numbers and the reason.
func (c Confirmed) MarshalCBOR() ([]byte, error) {
	return codec.Marshal(confirmation{Number: c.Number, Refused: c.Refused, Reason: window.ReasonOf(c.Reason)})
}

// UnmarshalCBOR decodes what MarshalCBOR made.
func (c *Confirmed) UnmarshalCBOR(data []byte) error {
	var w confirmation
	if err := codec.Unmarshal(data, &w); err != nil {
		return err
	}
	*c = Confirmed{Number: w.Number, Refused: w.Refused, Reason: extension.UnpackError(nil, w.Reason)}
	return nil
}
