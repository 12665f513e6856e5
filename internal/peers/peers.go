// Package peers says what is known of the other nodes of a system. A kind of message that not every
// release knows is sent only to nodes that have its feature:
//
//	if peers.Have(system, id, protocol.Figures) { … }
package peers

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/protocol"
	"github.com/understudy-go/understudy/remote"
)

// A Lookup finds what is known of a node. Its functions must not block.
type Lookup struct {
	Features func(id remote.NodeID) protocol.Features // none for a node that is not known
	Name     func(address string) string              // of the member at an address, "" if none is there
}

// Attach sets the lookup of a system. Package cluster does it.
func Attach(s *actor.System, l Lookup) { extension.Set(s, l) }

// Have reports whether a node is known to have a feature. It is false without a cluster.
func Have(s *actor.System, id remote.NodeID, f protocol.Feature) bool {
	l, ok := extension.Get[Lookup](s)
	return ok && l.Features(id).Has(f)
}

// NameAt returns the name of the member at an address, or "" if none is there.
func NameAt(s *actor.System, address string) string {
	l, ok := extension.Get[Lookup](s)
	if !ok {
		return ""
	}
	return l.Name(address)
}

type outside struct{ why error }

// AttachOutside declares that s is connected to a cluster without being a member, and why: nobody
// finds an actor that is registered on s. Package cluster calls it before a client is used.
func AttachOutside(s *actor.System, why error) { extension.Set(s, outside{why}) }

// Outside returns why s does not take part in the services of its cluster; nil if it does.
func Outside(s *actor.System) error {
	o, _ := extension.Get[outside](s)
	return o.why
}
