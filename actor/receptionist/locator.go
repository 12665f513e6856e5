package receptionist

import (
	"context"
	"iter"

	"github.com/understudy-go/understudy/remote"
)

// A Locator tells a receptionist the members of its cluster. Package cluster passes one to
// [Attach].
type Locator interface {
	// Topologies yields the current topology, and then the newest whenever it has changed, until
	// ctx ends.
	Topologies(ctx context.Context) iter.Seq[Topology]
}

// A Topology is the members of a cluster as one node knows them.
type Topology struct {
	Self  remote.NodeID
	Peers []Peer // the other members, those that are down or removed not included
}

// A Peer is another member.
type Peer struct {
	ID        remote.NodeID
	Reachable bool
}
