package home

import (
	"cmp"
	"maps"
	"slices"
)

// A NodeID is one incarnation of a node.
type NodeID struct {
	Name        string
	Incarnation uint64
}

// IDOf returns the incarnation that n describes.
func IDOf(n Node) NodeID { return NodeID{Name: n.Name, Incarnation: n.Incarnation} }

// IsZero reports whether n is no node.
func (n NodeID) IsZero() bool { return n == NodeID{} }

func compareNodeIDs(a, b NodeID) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Incarnation, b.Incarnation))
}

func sortedNodeIDs(all []NodeID) []NodeID {
	slices.SortFunc(all, compareNodeIDs)
	return all
}

// A nodeState has everything that is known about one incarnation of a node.
type nodeState struct {
	Node
	id             NodeID
	member         bool
	draining       bool
	reportAttempts int    // successive requests for a report that it has not answered
	reportedTo     string // the last label it has reported, while it is asked for more
	places         map[string]*Place
	drainTokens    []Token // requests that wait for the end of its drain
}

// snapshot returns the node as views show it.
func (n *nodeState) snapshot() Node {
	shown := n.Node
	shown.Draining = n.draining
	return shown
}

// known has the state of each incarnation that is a member, or may run actors.
type known map[NodeID]*nodeState

// incarnation returns the state of an incarnation, and adds it if it is not known.
func (k known) incarnation(id NodeID) *nodeState {
	n := k[id]
	if n == nil {
		n = &nodeState{id: id, Node: Node{Name: id.Name, Incarnation: id.Incarnation}, places: map[string]*Place{}}
		k[id] = n
	}
	return n
}

// members maps the names of members to their incarnations. If two members have one name, it has the
// later one.
type members map[string]NodeID

func (m members) has(id NodeID) bool { return !id.IsZero() && m[id.Name] == id }

func (m members) sorted() []NodeID { return sortedNodeIDs(slices.Collect(maps.Values(m))) }
