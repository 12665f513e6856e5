package plan

import "slices"

// filterElection removes nodes that are not elected, for the anchor [Leader].
const filterElection = "election"

// resolve returns the eligible node that will own a singleton. It chooses a node in avoid only if
// there is no other. The error is a [*NoEligibleNodesError].
func (a Anchor) resolve(label string, v View, e Election, avoid []string) (Node, error) {
	var best Node
	all, found := make([]Candidate, 0, len(v.Nodes)), false
	leader := a.leader(v, e)
	for _, n := range v.Nodes {
		c := Candidate{Node: n.Name, Why: a.refuses(label, n, leader)}
		all = append(all, c)
		if c.Why == "" && (!found || a.before(n, best, avoid)) {
			best, found = n, true
		}
	}
	if !found {
		return Node{}, noEligible(label, all)
	}
	return best, nil
}

// refuses returns the filter that removes n, or "" if n is eligible.
func (a Anchor) refuses(label string, n Node, leader string) string {
	if why := n.refuses(Spec{Label: label}, nil); why != "" {
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
func (a Anchor) admits(name string, v View, e Election) (Node, bool) {
	n, known := v.Node(name)
	return n, known && a.refuses("", n, a.leader(v, e)) == ""
}

// before reports whether n is preferred to m.
func (a Anchor) before(n, m Node, avoid []string) bool {
	shunned, shunnedToo := slices.Contains(avoid, n.Name), slices.Contains(avoid, m.Name)
	if shunned != shunnedToo {
		return shunnedToo
	}
	return older(n, m) < 0
}

// leader returns the node that is elected among the nodes that are not leaving. It returns "" if no
// node is elected, and for anchors other than [Leader].
func (a Anchor) leader(v View, e Election) string {
	if a.Kind != AnchorLeader {
		return ""
	}
	var staying View
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
func (a Anchor) keeps(on nodeID, v View, e Election) bool {
	n, known := v.Node(on.name)
	switch {
	case !known, n.Incarnation != on.incarnation, !n.Up, n.Draining:
		return false
	case a.Kind == AnchorLeader:
		return a.leader(v, e) == n.Name
	case a.Kind == AnchorRole:
		return n.HasRole(a.Name)
	}
	return n.Name == a.Name
}
