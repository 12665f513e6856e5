// Package wire has the messages between the managers and hubs of singletons on different nodes. To
// add one, write the struct of its body and a line of init.
package wire

import (
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/window"
	"github.com/understudy-go/understudy/remote"
)

// A Header is the first part of every message.
type Header struct {
	_        struct{}      `cbor:",toarray"`
	Name     string        // of the singleton; "" between hubs
	From, To remote.NodeID // To is the incarnation that is meant, zero for any at the address
}

// A Message is a header and a body of type B, one of those below.
type Message[B any] struct {
	_      struct{} `cbor:",toarray"`
	Header Header
	Body   B
}

// An Any is a message with any body.
type Any interface {
	Head() Header
}

// New returns a message.
func New[B any](h Header, body B) Message[B] { return Message[B]{Header: h, Body: body} }

// Head returns the header.
func (m Message[B]) Head() Header { return m.Header }

// OvertakesNone implements actorhook.Last. What a manager says of the messages that it has sent or
// will send must come behind them, and these have other recipients, see singletons.SendStraight.
func (m Message[B]) OvertakesNone() bool {
	switch any(m.Body).(type) {
	case Barrier, Passed:
		return true
	}
	return false
}

// Carried implements what [extension.DeadLetter] asks of messages that may carry another one.
// Only a message of the user becomes a dead letter: messages of the protocol are sent again, or not
// needed any more, and of one that is sequenced the sender has a copy.
func (m Message[B]) Carried(s *actor.System) (to string, msg any, carries bool) {
	c, carries := any(m.Body).(interface{ payload() extension.Payload })
	if !carries {
		return "", nil, false
	}
	msg, err := extension.Unpack(s, c.payload())
	if err != nil {
		msg = c.payload()
	}
	return actorhook.ToSingleton + m.Header.Name, msg, true
}

// Bodies of the messages between managers.
type (
	// Request asks for permission to host under a term.
	Request struct {
		_       struct{} `cbor:",toarray"`
		Attempt uint64
		Term    uint64
	}

	// Grant gives that permission: the sender runs no instance.
	Grant struct {
		_       struct{} `cbor:",toarray"`
		Attempt uint64
		Record  Record
		Taken   uint64 // the highest term that another node may have used
	}

	// HeldUp says that there is no permission yet, because the sender's instance does not stop.
	HeldUp struct {
		_       struct{} `cbor:",toarray"`
		Attempt uint64
		Since   time.Duration // for how long it has been told to stop
		Until   time.Duration // in how long it is given up
	}

	// Deliver carries a user's message from the node where it was told to the host.
	Deliver struct {
		_       struct{} `cbor:",toarray"`
		Payload extension.Payload
	}

	// Return carries such a message back, from a node that is not the host.
	Return struct {
		_       struct{} `cbor:",toarray"`
		Payload extension.Payload
	}

	// Barrier asks another manager for an answer once a condition holds, see [BarrierKind].
	// Messages between two nodes stay in order, so messages sent before the answer have arrived
	// before it.
	Barrier struct {
		_      struct{} `cbor:",toarray"`
		Kind   BarrierKind
		Number uint64
	}

	// Passed answers a Barrier of the same kind and number.
	Passed struct {
		_      struct{} `cbor:",toarray"`
		Kind   BarrierKind
		Number uint64
	}

	// Sequenced carries a user's message that the sender keeps until an instance has handled it.
	Sequenced struct {
		_       struct{} `cbor:",toarray"`
		Stream  StreamID
		First   uint64 // all before it have been handled
		Number  uint64
		Skip    bool // there is no message under this number
		Payload extension.Payload

		Failures int // of instances at the message, as the sender was told
	}

	// Check asks how far a stream has come.
	Check struct {
		_           struct{} `cbor:",toarray"`
		Stream      StreamID
		First, Last uint64 // Last is the last that was sent
	}

	// Ack says how far a stream has come: all up to Handled has been handled or was refused.
	Ack struct {
		_                 struct{} `cbor:",toarray"`
		Stream            StreamID
		Handled, Received uint64
		Again             bool // asks for what follows Received
		Refused           []window.Refusal
		Failures          int // of instances at the message after Handled
	}

	// Watermarks tells the next host what has been handled. It is sent before the Grant.
	Watermarks struct {
		_     struct{} `cbor:",toarray"`
		Marks []Watermark
	}
)

// A BarrierKind says what the answer to a [Barrier] waits for.
type BarrierKind uint8

// The kinds of barriers.
const (
	// Recall: the receiver has returned all that the sender has sent and no instance has.
	Recall BarrierKind = iota + 1
	// Drain: the receiver sends nothing to the sender any more, which hosts no more.
	Drain
	// Settle: no message of the sender waits at the receiver.
	Settle
)

// A StreamID identifies the stream of messages that one manager has numbered.
type StreamID struct {
	_       struct{} `cbor:",toarray"`
	Address string
	Number  uint64 // drawn at random
}

// A Watermark says that instances have handled a stream up to a number, apart from what was
// refused. It never becomes wrong, so any node that knows it may pass it on.
type Watermark struct {
	_       struct{} `cbor:",toarray"`
	Stream  StreamID
	Handled uint64
	Refused []window.Refusal // of numbers up to Handled that the sender may not know of, in order

	Failures int // of instances at the message after Handled; more may follow
}

// Bodies of the messages between hubs, about the managers on their nodes. A version belongs to the
// row of one incarnation of a node, and counts the changes that it has told.
type (
	// News says what has changed between two versions of the sender's row.
	News struct {
		_              struct{} `cbor:",toarray"`
		Since, Version uint64
		Advertised     []string
		Withdrawn      []string // names
		Records        []NamedRecord
	}

	// Row is a part of the row of a node at a version; the parts are sent in order. The sender is
	// not the owner when the owner is gone.
	Row struct {
		_          struct{} `cbor:",toarray"`
		Owner      remote.NodeID
		Version    uint64
		Part, Of   int
		Advertised []string
	}

	// Records says what the sender knows of singletons.
	Records struct {
		_       struct{} `cbor:",toarray"`
		Records []NamedRecord
	}

	// Compare says at which version the sender is, and which version of the receiver it knows. A
	// receiver at another version sends its row; one that knows another version of the sender
	// compares as well.
	Compare struct {
		_           struct{} `cbor:",toarray"`
		Mine, Yours uint64
		Records     uint64 // the checksum of the sender's records
	}

	// Confirm says which version of the receiver's row the sender knows, and with it all records
	// that were sent before.
	Confirm struct {
		_       struct{} `cbor:",toarray"`
		Version uint64
	}

	// A NamedRecord is the record of one singleton.
	NamedRecord struct {
		_      struct{} `cbor:",toarray"`
		Name   string
		Record Record
	}
)

func (d Deliver) payload() extension.Payload { return d.Payload }
func (r Return) payload() extension.Payload  { return r.Payload }

func init() {
	register[Request]("request")
	register[Grant]("grant")
	register[HeldUp]("held-up")
	register[Deliver]("deliver")
	register[Return]("return")
	register[Barrier]("barrier")
	register[Passed]("passed")
	register[Sequenced]("sequenced")
	register[Check]("check")
	register[Ack]("ack")
	register[Watermarks]("watermarks")
	register[News]("news")
	register[Row]("row")
	register[Records]("records")
	register[Compare]("compare")
	register[Confirm]("confirm")
}

func register[B any](name string) { actor.RegisterType[Message[B]]("understudy.singleton." + name) }
