package receptionist

import (
	"context"
	"iter"
)

// A Locator is what a receptionist needs of a cluster. Package cluster hands one to
// [Attach].
type Locator interface {
	// Topologies yields the topology as it is, and then whenever it has changed, the
	// newest only, until ctx ends.
	Topologies(ctx context.Context) iter.Seq[Topology]
}

// A NodeID is one incarnation of a node.
type NodeID struct {
	_           struct{} `cbor:",toarray"`
	Address     string
	Incarnation uint64
}

// A Topology is what a node knows of its cluster at one moment.
type Topology struct {
	Self  NodeID
	Peers []Peer // the other members, those that are down or removed not included
}

// A Peer is another member.
type Peer struct {
	ID        NodeID
	Reachable bool
}
