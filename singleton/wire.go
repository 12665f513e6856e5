package singleton

import (
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/node"
)

// What managers of different nodes tell each other goes through the hub of each node.
// To is the incarnation that is meant; a later one of the same address ignores it.
type (
	// wireRequest asks for permission to host.
	wireRequest struct {
		_        struct{} `cbor:",toarray"`
		Name     string
		From, To node.ID
		Attempt  uint64
		Term     uint64
	}

	wireGrant struct {
		_        struct{} `cbor:",toarray"`
		Name     string
		From, To node.ID
		Attempt  uint64
		Record   Record
		Taken    uint64
	}

	// wireHeldUp says that there is no permission yet, as the instance there does not end. It
	// was told to stop so long ago, and is given up in so long.
	wireHeldUp struct {
		_            struct{} `cbor:",toarray"`
		Name         string
		From, To     node.ID
		Attempt      uint64
		Since, Until time.Duration
	}

	// wireDeliver carries a message that was told on node From to the host.
	wireDeliver struct {
		_       struct{} `cbor:",toarray"`
		Name    string
		From    node.ID
		Payload extension.Payload
	}

	// wireGiveBack returns such a message, by a node that is not the host.
	wireGiveBack struct {
		_       struct{} `cbor:",toarray"`
		Name    string
		From    node.ID
		Payload extension.Payload
	}

	// wireRecall asks to give back what From has sent and no instance has been handed.
	wireRecall struct {
		_        struct{} `cbor:",toarray"`
		Name     string
		From, To node.ID
		Number   uint64
	}

	// wireRecalled says that all of it has been given back.
	wireRecalled struct {
		_        struct{} `cbor:",toarray"`
		Name     string
		From, To node.ID
		Number   uint64
	}

	// wireFarewell says that From hosts no more: nothing is to be sent there.
	wireFarewell struct {
		_        struct{} `cbor:",toarray"`
		Name     string
		From, To node.ID
	}

	// wireFarewellHeard says that From sends nothing any more to who has said farewell.
	wireFarewellHeard struct {
		_        struct{} `cbor:",toarray"`
		Name     string
		From, To node.ID
	}

	// wireSettle asks for an answer when nothing of what From has sent waits there.
	wireSettle struct {
		_        struct{} `cbor:",toarray"`
		Name     string
		From, To node.ID
		Number   uint64
	}

	// wireSettled is that answer. What was given back came before it.
	wireSettled struct {
		_        struct{} `cbor:",toarray"`
		Name     string
		From, To node.ID
		Number   uint64
	}

	// wireTold carries a message that the sender keeps until an instance has handled it.
	wireTold struct {
		_        struct{} `cbor:",toarray"`
		Name     string
		From, To node.ID
		Stream   streamID
		First    uint64 // all before have been handled
		Number   uint64
		Void     bool // there is nothing to handle under this number
		Payload  extension.Payload
	}

	// wireCheck asks how far a stream has come. Last is the last that was sent.
	wireCheck struct {
		_           struct{} `cbor:",toarray"`
		Name        string
		From, To    node.ID
		Stream      streamID
		First, Last uint64
	}

	// wireAck says how far a stream has come: all up to Handled has been handled, but for what
	// was refused. Again asks for what follows Received.
	wireAck struct {
		_                 struct{} `cbor:",toarray"`
		Name              string
		From, To          node.ID
		Stream            streamID
		Handled, Received uint64
		Again             bool
		Refused           []refusal
	}

	// wireMarks tells the next host what has been handled; it comes before the grant.
	wireMarks struct {
		_        struct{} `cbor:",toarray"`
		Name     string
		From, To node.ID
		Marks    []mark
	}
)

// What hubs tell each other of what their nodes have managers for. A version belongs to the
// row of one incarnation of a node, and counts what it has told of it.
type (
	// wireNews says what is new between two versions: offers, and the names of those that
	// are withdrawn.
	wireNews struct {
		_              struct{} `cbor:",toarray"`
		From           node.ID
		Since, Version uint64
		Offers         []string
		Withdrawn      []string
		Records        []namedRecord
	}

	// wireRow is a part of the row of a node at a version; the parts follow each other. From
	// is another than the owner when that is gone.
	wireRow struct {
		_           struct{} `cbor:",toarray"`
		From, Owner node.ID
		Version     uint64
		Part, Of    int
		Offers      []string
	}

	wireRecords struct {
		_       struct{} `cbor:",toarray"`
		Records []namedRecord
	}

	// wireCompare compares: From is at version Mine, and knows version Yours of To. Who is at
	// another version sends its row; who knows another one of From compares as well. Records
	// stands for those that From knows.
	wireCompare struct {
		_           struct{} `cbor:",toarray"`
		From, To    node.ID
		Mine, Yours uint64
		Records     uint64
	}

	// wireConfirm says which version of the row of To its sender knows, and so all records
	// that came before.
	wireConfirm struct {
		_        struct{} `cbor:",toarray"`
		From, To node.ID
		Version  uint64
	}

	namedRecord struct {
		_      struct{} `cbor:",toarray"`
		Name   string
		Record Record
	}
)

func init() {
	actor.RegisterType[wireNews]("understudy.singleton.news")
	actor.RegisterType[wireRow]("understudy.singleton.row")
	actor.RegisterType[wireRecords]("understudy.singleton.records")
	actor.RegisterType[wireCompare]("understudy.singleton.compare")
	actor.RegisterType[wireConfirm]("understudy.singleton.confirm")
	actor.RegisterType[wireRequest]("understudy.singleton.request")
	actor.RegisterType[wireGrant]("understudy.singleton.grant")
	actor.RegisterType[wireHeldUp]("understudy.singleton.held-up")
	actor.RegisterType[wireDeliver]("understudy.singleton.deliver")
	actor.RegisterType[wireGiveBack]("understudy.singleton.give-back")
	actor.RegisterType[wireRecall]("understudy.singleton.recall")
	actor.RegisterType[wireRecalled]("understudy.singleton.recalled")
	actor.RegisterType[wireFarewell]("understudy.singleton.farewell")
	actor.RegisterType[wireFarewellHeard]("understudy.singleton.farewell-heard")
	actor.RegisterType[wireSettle]("understudy.singleton.settle")
	actor.RegisterType[wireSettled]("understudy.singleton.settled")
	actor.RegisterType[wireTold]("understudy.singleton.told")
	actor.RegisterType[wireCheck]("understudy.singleton.check")
	actor.RegisterType[wireAck]("understudy.singleton.ack")
	actor.RegisterType[wireMarks]("understudy.singleton.marks")
}

func (m wireRequest) singleton() string       { return m.Name }
func (m wireGrant) singleton() string         { return m.Name }
func (m wireHeldUp) singleton() string        { return m.Name }
func (m wireDeliver) singleton() string       { return m.Name }
func (m wireGiveBack) singleton() string      { return m.Name }
func (m wireRecall) singleton() string        { return m.Name }
func (m wireRecalled) singleton() string      { return m.Name }
func (m wireFarewell) singleton() string      { return m.Name }
func (m wireFarewellHeard) singleton() string { return m.Name }
func (m wireSettle) singleton() string        { return m.Name }
func (m wireSettled) singleton() string       { return m.Name }
func (m wireTold) singleton() string          { return m.Name }
func (m wireCheck) singleton() string         { return m.Name }
func (m wireAck) singleton() string           { return m.Name }
func (m wireMarks) singleton() string         { return m.Name }

// hubPath is where the hub of every node lives.
const hubPath = "/system/" + hubName

const hubName = "singletons"

// A post sends to the hubs of other nodes. It belongs to one actor.
type post struct {
	system *actor.System

	// The last hub that it has sent to: looking one up takes as long as a local message.
	address string
	hub     actor.ActorRef[hubMsg]
}

func (p *post) send(to node.ID, msg hubMsg) {
	if p.address != to.Address {
		path := "understudy://" + p.system.Name() + "@" + to.Address + hubPath
		p.address, p.hub = to.Address, actor.Resolve[hubMsg](p.system, path)
	}
	p.hub.Tell(msg)
}
