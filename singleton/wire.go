package singleton

import (
	"github.com/understudy-go/understudy/actor"
)

// What managers of different nodes tell each other goes through the hub of each node.
// To is the incarnation that is meant; a later one of the same address ignores it.
type (
	wireRequest struct {
		_        struct{} `cbor:",toarray"`
		Name     string
		From, To PeerID
		Attempt  uint64
	}

	wireGrant struct {
		_        struct{} `cbor:",toarray"`
		Name     string
		From, To PeerID
		Attempt  uint64
		Record   Record
	}

	wireDeliver struct {
		_       struct{} `cbor:",toarray"`
		Name    string
		From    PeerID
		Hops    int
		Payload actor.Payload
	}

	wireMarker struct {
		_      struct{} `cbor:",toarray"`
		Name   string
		From   PeerID
		Hops   int
		Origin PeerID
		Number uint64
	}

	// wireArrived tells the origin of a marker that it has come through.
	wireArrived struct {
		_      struct{} `cbor:",toarray"`
		Name   string
		To     PeerID
		Number uint64
	}
)

func init() {
	actor.RegisterType[wireRequest]("understudy.singleton.request")
	actor.RegisterType[wireGrant]("understudy.singleton.grant")
	actor.RegisterType[wireDeliver]("understudy.singleton.deliver")
	actor.RegisterType[wireMarker]("understudy.singleton.marker")
	actor.RegisterType[wireArrived]("understudy.singleton.arrived")
}

func (m wireRequest) singleton() string { return m.Name }
func (m wireGrant) singleton() string   { return m.Name }
func (m wireDeliver) singleton() string { return m.Name }
func (m wireMarker) singleton() string  { return m.Name }
func (m wireArrived) singleton() string { return m.Name }

// hubPath is where the hub of every node lives.
const hubPath = "/system/" + hubName

const hubName = "singletons"

// A post sends to the hubs of other nodes. It is cheap to make and safe for any goroutine.
type post struct{ system *actor.System }

func (p post) send(to PeerID, msg wireMsg) {
	path := "understudy://" + p.system.Name() + "@" + to.Address + hubPath
	actor.Resolve[hubMsg](p.system, path).Tell(msg)
}
