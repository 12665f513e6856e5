// Package peers says which features the other nodes of a system have. A kind of message that not
// every release knows is sent only to nodes that have its feature:
//
//	if peers.Have(system, id, protocol.Figures) { … }
package peers

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/protocol"
)

// A Lookup returns the features of a node; none for a node that is not known. It must not block.
type Lookup func(id node.ID) protocol.Features

// Attach sets the lookup of a system. Package cluster does it.
func Attach(s *actor.System, l Lookup) { extension.Set(s, l) }

// Have reports whether a node is known to have a feature. It is false without a cluster.
func Have(s *actor.System, id node.ID, f protocol.Feature) bool {
	l, ok := extension.Get[Lookup](s)
	return ok && l(id).Has(f)
}
