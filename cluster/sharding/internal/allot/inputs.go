package allot

import (
	"reflect"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
)

type (
	// Hello says what a node offers, and which table it has.
	Hello struct {
		Node   home.NodeID
		Offers []Offer
		Has    table.Version
	}

	// Rescale wants another number of shards for a type of daemons.
	Rescale struct {
		Token  home.Token
		Type   string
		Shards int
	}

	// SetPins pins shards to the node of a name, or, if that is "", ends their pins.
	SetPins struct {
		Token  home.Token
		Type   string
		Shards []int
		Node   string
	}

	// StopShards ends shards, which then start again.
	StopShards struct {
		Token  home.Token
		Type   string
		Shards []int
	}

	// FenceAnswered says whether the lease of a former member was taken, and released since.
	FenceAnswered struct {
		Fence Fence
		Held  bool
		Why   string // it was not
	}
)

// IsInput implements home.Input.
func (Hello) IsInput() {}

// IsInput implements home.Input.
func (Rescale) IsInput() {}

// IsInput implements home.Input.
func (SetPins) IsInput() {}

// IsInput implements home.Input.
func (StopShards) IsInput() {}

// IsInput implements home.Input.
func (FenceAnswered) IsInput() {}

// An Offer is a type that a node has started.
type Offer struct {
	_     struct{} `cbor:",toarray"`
	Type  table.Type
	Hosts bool // it can host shards; else it only sends messages
	// Agreed says that a coordinator has declared the type like this, by the table of the node.
	Agreed bool
	// Entities says what the node knows of the entities. Type has the agreement of its table.
	Entities table.Entities
	// Leased says that it hosts only while it has a lease. Lease is the token of the lease, or 0.
	Leased bool
	Lease  uint64
	// Awake has the number of entities that are awake or about to start, by shard that runs on the
	// node and has any.
	Awake map[int]int
}

// isLike reports whether the offers differ at most in the number of entities that are awake, which
// no shard waits for.
func (o Offer) isLike(b Offer) bool {
	o.Awake, b.Awake = nil, nil
	return reflect.DeepEqual(o, b)
}

// A Push is an effect: send the update to the node.
type Push struct {
	Node   home.Node
	Update table.Update
	Refuse []Mismatch // of the types that the node offers
}

// IsEffect implements home.Effect.
func (Push) IsEffect() {}

// A Mismatch says that a node offers a type with another signature than the cluster's.
type Mismatch struct {
	_       struct{} `cbor:",toarray"`
	Type    string
	Cluster table.Type
}
