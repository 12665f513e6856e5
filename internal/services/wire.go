package services

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/remote"
)

// An Entry is the registration of an actor for a service.
type Entry struct {
	_       struct{} `cbor:",toarray"`
	Service string
	Type    string // of the messages, see codec.TypeName
	Ref     string // path and number
}

func (e Entry) size() int { return len(e.Service) + len(e.Type) + len(e.Ref) + 10 }

// Messages between the receptionists of different nodes. A version numbers the changes to the
// registrations of one incarnation of a node.
type (
	wireChange struct {
		_              struct{} `cbor:",toarray"`
		Owner          remote.NodeID
		Since, Version uint64
		Added, Removed []Entry
	}

	// The parts follow each other.
	wireSnapshot struct {
		_        struct{} `cbor:",toarray"`
		Owner    remote.NodeID
		Version  uint64
		Part, Of int
		Entries  []Entry
	}

	// wireCheck compares: From is at version Mine, and knows version Yours of To. A receiver that
	// is at another version sends everything it has. One that knows another version of From
	// checks back.
	wireCheck struct {
		_           struct{} `cbor:",toarray"`
		From, To    remote.NodeID
		Mine, Yours uint64
	}

	// Any sender may ask.
	wireQuery struct {
		_       struct{} `cbor:",toarray"`
		Service string
		ReplyTo actor.ActorRef[wireAnswer]
	}

	wireAnswer struct {
		_     struct{} `cbor:",toarray"`
		Found []Found
	}
)

// A Found is an instance of a service.
type Found struct {
	_         struct{} `cbor:",toarray"`
	Entry     Entry
	Owner     remote.NodeID
	Local     bool
	Reachable bool
}

func init() {
	actor.RegisterType[wireChange]("understudy.receptionist.change")
	actor.RegisterType[wireSnapshot]("understudy.receptionist.snapshot")
	actor.RegisterType[wireCheck]("understudy.receptionist.check")
	actor.RegisterType[wireQuery]("understudy.receptionist.query")
	actor.RegisterType[wireAnswer]("understudy.receptionist.answer")
}

// Messages between receptionists do not become dead letters: a lost one is noticed and sent again.

func (wireChange) Carried(*actor.System) (string, any, bool) { return "", nil, false }

func (wireSnapshot) Carried(*actor.System) (string, any, bool) { return "", nil, false }

func (wireCheck) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// The caller of Lookup gets an error.
func (wireQuery) Carried(*actor.System) (string, any, bool) { return "", nil, false }

func (wireAnswer) Carried(*actor.System) (string, any, bool) { return "", nil, false }
