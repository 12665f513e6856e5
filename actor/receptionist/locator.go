package receptionist

import (
	"context"
	"iter"

	"github.com/understudy-go/understudy/internal/node"
)

// A Locator is what a receptionist needs of a cluster. Package cluster hands one to
// [Attach].
type Locator interface {
	// Topologies yields the topology as it is, and then whenever it has changed, the
	// newest only, until ctx ends.
	Topologies(ctx context.Context) iter.Seq[Topology]
}

// A Topology is what a node knows of its cluster at one moment.
type Topology struct {
	Self  node.ID
	Peers []Peer // the other members, those that are down or removed not included
}

// A Peer is another member.
type Peer struct {
	ID        node.ID
	Reachable bool
}
