package receptionist

import (
	"context"
	"fmt"
	"iter"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
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

type outside struct{ why error }

// AttachOutside declares that s is connected to a cluster without being a member, and why: nobody
// would find an actor registered on s. From then on [Register] and [Subscribe] panic, [Find] finds
// nothing and returns why in the error of the listing, and topics refuse s. Package cluster calls
// it for clients before the client is used.
func AttachOutside(s *actor.System, why error) { extension.Set(s, outside{why}) }

// Outside returns why s does not take part in the services of its cluster; nil if it does.
func Outside(s *actor.System) error {
	o, _ := extension.Get[outside](s)
	return o.why
}

func mustBeInside(s *actor.System, what, service string) {
	if why := Outside(s); why != nil {
		panic(fmt.Sprintf("receptionist: cannot %s service %q: %v; do it on a node, and look services up by cluster.Lookup", what, service, why))
	}
}
