package cluster

import (
	"context"
	"iter"

	"github.com/understudy-go/understudy/actor/receptionist"
)

type receptionistLocator Node

var _ receptionist.Locator = (*receptionistLocator)(nil)

func (r *receptionistLocator) Topologies(ctx context.Context) iter.Seq[receptionist.Topology] {
	return func(yield func(receptionist.Topology) bool) {
		for v := range r.views.follow(ctx) {
			if !yield(peersOf(v)) {
				return
			}
		}
	}
}

// peersOf returns v as receptionists see it. It omits members that are down: they stop their
// actors, so nobody can use the services registered there.
func peersOf(v View) receptionist.Topology {
	t := receptionist.Topology{Self: v.Self.ID()}
	for _, m := range v.Members {
		if m.Status >= Down || m.ID() == v.Self.ID() {
			continue
		}
		t.Peers = append(t.Peers, receptionist.Peer{
			ID:        m.ID(),
			Reachable: v.Reachable(m),
		})
	}
	return t
}
