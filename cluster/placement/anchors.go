package placement

import (
	"cmp"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/singleton"
)

// filterElection removes nodes that are not elected, for the anchor [Leader].
const filterElection = "election"

// resolve returns the eligible node that will own a singleton: the oldest one of those with the
// newest version of the application. It chooses a node in avoid only if there is no other. The
// error is a [*NoEligibleNodesError].
func (a Anchor) resolve(label string, v home.View, e election, avoid []string) (home.Node, error) {
	all := make([]Candidate, 0, len(v.Nodes))
	leader := a.leader(v, e)
	for _, n := range v.Nodes {
		all = append(all, Candidate{Node: n.Name, Why: a.refuses(label, n, leader)})
	}
	newest := newestVersion(v, all, avoid)
	var best home.Node
	found := false
	for i, n := range v.Nodes {
		if all[i].Why == "" && (!found || cmp.Or(cmp.Compare(rankOf(n, newest, avoid), rankOf(best, newest, avoid)), older(n, best)) < 0) {
			best, found = n, true
		}
	}
	if !found {
		return home.Node{}, noEligible(label, all)
	}
	return best, nil
}

// refuses returns the filter that removes n, or "" if n is eligible.
func (a Anchor) refuses(label string, n home.Node, leader string) string {
	if why := refuses(n, Spec{Label: label}, nil); why != "" {
		return why
	}
	switch {
	case a.Kind == AnchorLeader && n.Name != leader:
		return filterElection
	case a.Kind == AnchorRole && !n.HasRole(a.Name):
		return filterRoles
	case a.Kind == AnchorNode && n.Name != a.Name:
		return filterRequired
	}
	return ""
}

// admits reports whether the node of that name may own a singleton with this anchor.
func (a Anchor) admits(name string, v home.View, e election) (home.Node, bool) {
	n, known := v.Node(name)
	return n, known && a.refuses("", n, a.leader(v, e)) == ""
}

// leader returns the node that is elected among the nodes that are not leaving. It returns "" if no
// node is elected, and for anchors other than [Leader].
func (a Anchor) leader(v home.View, e election) string {
	if a.Kind != AnchorLeader {
		return ""
	}
	var staying home.View
	for _, n := range v.Nodes {
		if n.Up && !n.Draining {
			staying.Nodes = append(staying.Nodes, n)
		}
	}
	leader, _ := e.Leader(staying)
	return leader
}

// keeps reports whether an instance may stay where it is. A node that is merely unreachable or not
// ready keeps its instances.
func (a Anchor) keeps(on home.NodeID, v home.View, e election) bool {
	n, known := v.Node(on.Name)
	switch {
	case !known, n.Incarnation != on.Incarnation, !n.Up, n.Draining:
		return false
	case a.Kind == AnchorLeader:
		return a.leader(v, e) == n.Name
	case a.Kind == AnchorRole:
		return n.HasRole(a.Name)
	}
	return n.Name == a.Name
}

// An election says which node leads. The leading node runs the coordinator, and the singletons
// whose anchor is [Leader].
type election struct {
	Order  membership.LeaderElection // among the nodes that are up and have the role
	Role   string                    // the role that a node needs to lead; "" allows all nodes
	Holder string                    // the node that runs the coordinator, which leads while it is up; "" if unknown
}

// Leader returns the node that leads, and false if no node leads. Holder takes precedence: it was
// elected among the nodes that run placement, which a view does not distinguish.
func (e election) Leader(v home.View) (node string, ok bool) {
	if n, known := v.Node(e.Holder); known && n.Up {
		return n.Name, true
	}
	var members []membership.Member
	for _, n := range v.Nodes {
		if n.Up && (e.Role == "" || n.HasRole(e.Role)) {
			members = append(members, membership.Member{
				Name: n.Name, Address: n.Address, Incarnation: n.Incarnation, Status: membership.Up,
				UpNumber: n.UpNumber, Roles: n.Roles, Meta: n.Meta,
			})
		}
	}
	first, ok := e.Order.First(members)
	return first.Name, ok
}

func older(a, b home.Node) int {
	return cmp.Or(cmp.Compare(a.UpNumber-1, b.UpNumber-1), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Incarnation, b.Incarnation))
}

// elector returns the election as a function for package singleton.
func elector(e election) func(candidates []singleton.Candidate) (string, bool) {
	return func(candidates []singleton.Candidate) (string, bool) {
		var nodes []Node
		for _, p := range candidates {
			nodes = append(nodes, Node{
				Name: p.Name, Address: p.ID.Address, Incarnation: p.ID.Incarnation, UpNumber: p.UpNumber,
				Roles: p.Roles, Meta: p.Meta, Up: true, Reachable: p.Reachable,
			})
		}
		return e.Leader(home.NewView(nodes))
	}
}
