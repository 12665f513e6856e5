package placement

import (
	"cmp"

	"github.com/understudy-go/understudy/cluster/internal/home"
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
