package plan

import (
	"slices"
	"strings"
)

// A View is what the coordinator knows of the cluster, at one moment unless it is very large:
// see [Coordinator.View]. It does not change.
type View struct {
	_ struct{} `cbor:",toarray"`

	// Nodes are sorted by name.
	Nodes []Node
}

// A Node is a member of the cluster, as the coordinator sees it.
type Node struct {
	_           struct{} `cbor:",toarray"`
	Name        string   // cluster.Config.NodeID: it survives restarts
	Address     string
	Incarnation uint64
	UpNumber    uint64 // the order in which members came up: the oldest has the lowest; 0 while it is none that is up
	Roles       []string
	Meta        map[string]string

	Up        bool // a member that is up: not joining, leaving or down
	Reachable bool // heard of lately
	Ready     bool // runs placement, of a version that this coordinator talks to
	Draining  bool // what runs on it is being moved away

	// Actors are the labels of what runs on it or is on its way there, sorted; singletons as
	// well.
	Actors []string

	passing []string // of Actors, what is not to stay: it is being stopped, or nobody knows why it is there; sorted
}

// Alive reports whether something may be placed on the node, as far as that is for the
// node to say.
func (n Node) Alive() bool { return n.Up && n.Reachable && n.Ready && !n.Draining }

// HasRole reports whether the node has a role.
func (n Node) HasRole(role string) bool { return slices.Contains(n.Roles, role) }

// Runs reports whether an actor of that label runs on the node or is on its way there.
func (n Node) Runs(label string) bool {
	_, runs := slices.BinarySearch(n.Actors, label)
	return runs
}

// Node returns the node of that name.
func (v View) Node(name string) (n Node, ok bool) {
	i := slices.IndexFunc(v.Nodes, func(n Node) bool { return n.Name == name })
	if i < 0 {
		return Node{}, false
	}
	return v.Nodes[i], true
}

// Find returns the node on which an actor of that label runs, or to which it is on its
// way.
func (v View) Find(label string) (n Node, ok bool) {
	i := slices.IndexFunc(v.Nodes, func(n Node) bool { return n.Runs(label) })
	if i < 0 {
		return Node{}, false
	}
	return v.Nodes[i], true
}

// Alive returns the nodes on which something may be placed.
func (v View) Alive() []Node {
	var alive []Node
	for _, n := range v.Nodes {
		if n.Alive() {
			alive = append(alive, n)
		}
	}
	return alive
}

// newView returns the view of some nodes, which it sorts by name.
func NewView(nodes []Node) View {
	slices.SortFunc(nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	return View{Nodes: nodes}
}
