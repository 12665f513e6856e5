package placement

import (
	"time"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/hosting"
	"github.com/understudy-go/understudy/cluster/placement/internal/plan"
	"github.com/understudy-go/understudy/singleton"
)

// viewInput returns a view of the cluster as an input of the planner. It always has the whole
// state, so no change is missed, and a new coordinator knows as much as the old one. margin is
// Config.RemovalMargin.
func viewInput(n *cluster.Node, v cluster.View, margin time.Duration) plan.ViewChanged {
	var in plan.ViewChanged
	for _, m := range v.Members {
		if m.Status == cluster.Down { // its time to run is known once it has been removed
			in.Gone = append(in.Gone, hosting.Gone{Name: m.Name, Incarnation: m.Incarnation})
			continue
		}
		in.Nodes = append(in.Nodes, asNode(m, v.Reachable(m))) // an exiting node is still stopping its actors
	}
	for _, g := range n.Gone(v) {
		until := g.Until
		if margin != 0 {
			until = g.Since.Add(max(margin, 0))
		}
		in.Gone = append(in.Gone, hosting.Gone{Name: g.Name, Incarnation: g.ID.Incarnation, Until: until})
	}
	return in
}

func asNode(m cluster.Member, reachable bool) Node {
	return Node{
		Name: m.Name, Address: m.Address, Incarnation: m.Incarnation, UpNumber: m.UpNumber,
		Roles: m.Roles, Meta: m.Meta, Up: m.Status == cluster.Up, Reachable: reachable,
		AppVersion: m.AppVersion,
	}
}

// elector returns the election as a function for package singleton.
func elector(e plan.Election) func(candidates []singleton.Candidate) (string, bool) {
	return func(candidates []singleton.Candidate) (string, bool) {
		var nodes []Node
		for _, p := range candidates {
			nodes = append(nodes, Node{
				Name: p.Name, Address: p.ID.Address, Incarnation: p.ID.Incarnation, UpNumber: p.UpNumber,
				Roles: p.Roles, Meta: p.Meta, Up: true, Reachable: p.Reachable,
			})
		}
		return e.Leader(hosting.NewView(nodes))
	}
}
