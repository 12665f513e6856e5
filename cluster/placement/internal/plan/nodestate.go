package plan

import (
	"cmp"
	"maps"
	"slices"
)

// A nodeID is one incarnation of a node.
type nodeID struct {
	name        string
	incarnation uint64
}

// IDOf returns the incarnation that n describes.
func IDOf(n Node) nodeID { return nodeID{name: n.Name, incarnation: n.Incarnation} }

func (n nodeID) isZero() bool { return n == nodeID{} }

func compareNodeIDs(a, b nodeID) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.incarnation, b.incarnation))
}

func sortedNodeIDs(all []nodeID) []nodeID {
	slices.SortFunc(all, compareNodeIDs)
	return all
}

// A nodeState has everything that is known about one incarnation of a node.
type nodeState struct {
	Node
	id             nodeID
	member         bool
	draining       bool
	reportAttempts int    // successive requests for a report that it has not answered
	reportedTo     string // the last label it has reported, while it is asked for more
	places         map[string]*place
	drainTokens    []Token // requests that wait for the end of its drain
}

// snapshot returns the node as views show it.
func (n *nodeState) snapshot() Node {
	shown := n.Node
	shown.Draining = n.draining
	return shown
}

// known has the state of each incarnation that is a member, or may run actors.
type known map[nodeID]*nodeState

// incarnation returns the state of an incarnation, and adds it if it is not known.
func (k known) incarnation(id nodeID) *nodeState {
	n := k[id]
	if n == nil {
		n = &nodeState{id: id, Node: Node{Name: id.name, Incarnation: id.incarnation}, places: map[string]*place{}}
		k[id] = n
	}
	return n
}

// members maps the names of members to their incarnations. If two members have one name, it has the
// later one.
type members map[string]nodeID

func (m members) has(id nodeID) bool { return !id.isZero() && m[id.name] == id }

func (m members) sorted() []nodeID { return sortedNodeIDs(slices.Collect(maps.Values(m))) }
