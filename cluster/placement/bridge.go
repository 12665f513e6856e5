package placement

import (
	"time"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
)

// seen returns how the cluster stands as an input. It is all of it each time, never what
// has changed: so nothing is missed, however many changes there were, and who begins late
// knows as much as who was there from the start. margin is that of the Config.
func seen(n *cluster.Node, v cluster.View, margin time.Duration) viewSeen {
	var in viewSeen
	for _, m := range v.Members {
		if m.Status == cluster.Down { // until when it may run is known when it has been removed
			in.gone = append(in.gone, gone{name: m.Name, incarnation: m.Incarnation})
			continue
		}
		in.nodes = append(in.nodes, asNode(m, v.Reachable(m))) // who is exiting stops its actors still
	}
	for _, g := range n.Gone(v) {
		until := g.Until
		if margin != 0 {
			until = g.Since.Add(max(margin, 0))
		}
		in.gone = append(in.gone, gone{name: g.Name, incarnation: g.ID.Incarnation, until: until})
	}
	return in
}

func asNode(m cluster.Member, reachable bool) Node {
	return Node{
		Name: m.Name, Address: m.Address, Incarnation: m.Incarnation, UpNumber: m.UpNumber,
		Roles: m.Roles, Meta: m.Meta, Up: m.Status == cluster.Up, Reachable: reachable,
	}
}

// elector returns the election as a singleton needs it.
func (e Election) elector() func(candidates []singleton.Peer) (string, bool) {
	return func(candidates []singleton.Peer) (string, bool) {
		var v View
		for _, p := range candidates {
			v.Nodes = append(v.Nodes, Node{
				Name: p.Name, Address: p.ID.Address, Incarnation: p.ID.Incarnation, UpNumber: p.UpNumber,
				Roles: p.Roles, Meta: p.Meta, Up: true, Reachable: p.Reachable,
			})
		}
		v.sort()
		return e.leader(v)
	}
}
