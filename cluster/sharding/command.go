package sharding

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
)

// The messages to the coordinator that only package sharding knows, besides the inputs of package
// allot.
type (
	// A hello says what a node offers, and which table it has.
	hello struct {
		_           struct{} `cbor:",toarray"`
		Node        string
		Incarnation uint64
		Offers      []allot.Offer
		Has         table.Version
	}

	// A drainRequest asks to move the shards away from a node. The answer is empty.
	drainRequest struct {
		_           struct{} `cbor:",toarray"`
		Node        string
		Incarnation uint64
		ReplyTo     actor.ActorRef[drained]
	}

	// An explainRequest asks about a shard.
	explainRequest struct {
		_       struct{} `cbor:",toarray"`
		Type    string
		Shard   int
		ReplyTo actor.ActorRef[allot.Explanation]
	}

	// A homelessRequest asks which shards run nowhere.
	homelessRequest struct {
		_       struct{} `cbor:",toarray"`
		ReplyTo actor.ActorRef[[]allot.Homeless]
	}

	// A controlRequest pins shards, stops them, or changes the number of daemons.
	controlRequest struct {
		_       struct{} `cbor:",toarray"`
		Type    string
		Pin     bool   // else shards are stopped, or daemons changed
		Node    string // where to pin them; "" ends their pins
		Shards  []int
		Daemons int // how many there are to be; 0 for the other requests
		ReplyTo actor.ActorRef[controlled]
	}

	// A pinsRequest asks where shards are pinned to.
	pinsRequest struct {
		_       struct{} `cbor:",toarray"`
		Type    string
		ReplyTo actor.ActorRef[pinned]
	}
)

type drained struct {
	_ struct{} `cbor:",toarray"`
}

// A controlled answers a controlRequest.
type controlled struct {
	_         struct{} `cbor:",toarray"`
	Problem   string
	NoJournal bool
	Unknown   bool // the type has not been announced yet
}

// A pinned answers a pinsRequest: the names of the nodes, by shard.
type pinned struct {
	_     struct{} `cbor:",toarray"`
	Nodes map[int]string
}

// IsInput implements home.Input.
func (hello) IsInput() {}

// IsInput implements home.Input.
func (drainRequest) IsInput() {}

// IsInput implements home.Input.
func (explainRequest) IsInput() {}

// IsInput implements home.Input.
func (homelessRequest) IsInput() {}

// IsInput implements home.Input.
func (controlRequest) IsInput() {}

// IsInput implements home.Input.
func (pinsRequest) IsInput() {}

// Carried is for [extension.DeadLetter]. It returns nothing, because the message will be sent
// again.
func (hello) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// Carried is for [extension.DeadLetter], as for hello.
func (drainRequest) Carried(*actor.System) (recipient string, msg any, ok bool) {
	return "", nil, false
}

// Carried is for [extension.DeadLetter]: the request may have been sent again meanwhile.
func (drained) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// A toNode is a message of the coordinator to the hub of a node.
type toNode struct {
	_           struct{} `cbor:",toarray"`
	Incarnation uint64
	Update      table.Update
	Refuse      []allot.Mismatch
}

// Carried is for [extension.DeadLetter], as for hello.
func (toNode) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

func init() {
	actor.RegisterType[hello]("understudy/sharding.hello")
	actor.RegisterType[drainRequest]("understudy/sharding.drain")
	actor.RegisterType[drained]("understudy/sharding.drained")
	actor.RegisterType[controlRequest]("understudy/sharding.control")
	actor.RegisterType[controlled]("understudy/sharding.controlled")
	actor.RegisterType[pinsRequest]("understudy/sharding.pins-request")
	actor.RegisterType[pinned]("understudy/sharding.pins")
	actor.RegisterType[toNode]("understudy/sharding.to-node")
	actor.RegisterType[explainRequest]("understudy/sharding.explain")
	actor.RegisterType[allot.Explanation]("understudy/sharding.explanation")
	actor.RegisterType[homelessRequest]("understudy/sharding.homeless-request")
	actor.RegisterType[[]allot.Homeless]("understudy/sharding.homeless")
}
