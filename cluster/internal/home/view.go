package home

import (
	"slices"
	"strings"
)

// A View is an immutable snapshot of the cluster as the coordinator knows it. A very large View is
// read in several parts, which may differ in time.
type View struct {
	_ struct{} `cbor:",toarray"`

	// Nodes are sorted by name.
	Nodes []Node
}

// A Node is a member of the cluster, as the coordinator knows it.
type Node struct {
	_           struct{} `cbor:",toarray"`
	Name        string   // cluster.Config.NodeID; it survives restarts
	Address     string
	Incarnation uint64
	UpNumber    uint64 // the order in which members came up: the oldest member has the lowest number; 0 before the node is up
	Roles       []string
	Meta        map[string]string

	Up        bool // its status is up: not joining, leaving, exiting or down
	Reachable bool // no failure detector reports it unreachable
	Ready     bool // has an agent, which has reported to this coordinator
	Draining  bool // its actors are being moved away

	// Actors are the labels of the actors and singletons that run on it or are on their way
	// there, sorted.
	Actors []string

	AppVersion string // cluster.Config.AppVersion

	passing []string `cbor:"-"` // the labels in Actors that may not stay, because they are being stopped or are orphans; sorted
}

// Alive reports whether actors may be placed on the node, apart from their constraints.
func (n Node) Alive() bool { return n.Up && n.Reachable && n.Ready && !n.Draining }

// Shared returns n as it is sent to other nodes, which do not get the unexported field.
func (n Node) Shared() Node {
	n.passing = nil
	return n
}

// HasRole reports whether the node has the role.
func (n Node) HasRole(role string) bool { return slices.Contains(n.Roles, role) }

// Runs reports whether the actor of that label runs on the node or is on its way there.
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

// Find returns the node on which the actor of that label runs, or to which it is on its way.
func (v View) Find(label string) (n Node, ok bool) {
	i := slices.IndexFunc(v.Nodes, func(n Node) bool { return n.Runs(label) })
	if i < 0 {
		return Node{}, false
	}
	return v.Nodes[i], true
}

// Alive returns the nodes on which actors may be placed.
func (v View) Alive() []Node {
	var alive []Node
	for _, n := range v.Nodes {
		if n.Alive() {
			alive = append(alive, n)
		}
	}
	return alive
}

// NewView returns the view of some nodes. It sorts the slice by name.
func NewView(nodes []Node) View {
	slices.SortFunc(nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	return View{Nodes: nodes}
}

// Keeps reports whether an actor is on n or on its way there, and will stay.
func Keeps(n Node, label string) bool {
	_, passes := slices.BinarySearch(n.passing, label)
	return n.Runs(label) && !passes
}
