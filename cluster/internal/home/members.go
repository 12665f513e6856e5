package home

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// A Gone is a former member that may still be running until a time; zero means that the time is not
// known yet.
type Gone struct {
	Name        string
	Incarnation uint64
	Until       time.Time
}

// update handles a new view of the cluster.
func (f *Nodes) update(all []Node, gone []Gone) {
	if !f.hasView {
		f.hasView, f.settleAt = true, f.now.Add(f.cfg.AckTimeout)
	}
	f.members = members{}
	f.makeRoom()
	for _, n := range all {
		if id, ok := f.members[n.Name]; !ok || id.Incarnation < n.Incarnation {
			f.members[n.Name] = IDOf(n)
		}
	}
	for _, n := range f.known {
		n.member = f.members.has(n.id)
	}
	for _, n := range all {
		if id := IDOf(n); f.members.has(id) {
			f.known.incarnation(id).update(n)
		}
	}
	f.updateGone(gone)
	f.requestMissingReports()
}

// update stores what the cluster knows of a member. If a member was up and no longer is, it is
// leaving, so it is drained.
func (n *nodeState) update(now Node) {
	was := n.Node
	n.member = true
	n.Node = now
	n.Ready, n.Draining = was.Ready, false
	n.Actors, n.passing = was.Actors, was.passing
	n.draining = n.draining || was.Up && !now.Up
}

// updateGone sets how long nodes that are not members may still be running. A node that has
// certainly stopped, or is back in another incarnation, is lost at once.
func (f *Nodes) updateGone(all []Gone) {
	until := map[NodeID]time.Time{}
	for _, g := range all {
		until[NodeID{Name: g.Name, Incarnation: g.Incarnation}] = g.Until
	}
	for id, n := range f.known {
		at, may := until[id]
		_, back := f.members[id.Name]
		switch {
		case n.member, may && !back && at.IsZero():
			f.goneUntil.Clear(id)
		case may && !back:
			f.goneUntil.Set(id, at)
		default:
			f.goneUntil.Set(id, f.now)
		}
	}
}

// expireGone forgets the nodes whose time to run is over.
func (f *Nodes) expireGone() {
	if !f.hasView {
		return
	}
	for _, id := range sortedNodeIDs(f.goneUntil.Pass(f.now)) {
		f.lose(f.known[id])
	}
}

func (f *Nodes) lose(n *nodeState) {
	for _, p := range n.sorted() {
		f.leave(p, NodeLost, f.now)
		f.dropPlace(n, p)
	}
	f.workloads.tell(func(w Workload) { w.Lost(n.id) })
	f.drained(n)
	f.reportsDue.Clear(n.id)
	delete(f.known, n.id)
}

func (f *Nodes) drain(id NodeID, from Token) {
	n := f.known.incarnation(id)
	if f.hasView && !n.member {
		f.goneUntil.Set(n.id, f.now)
	}
	n.draining = true
	n.drainTokens = append(n.drainTokens, from)
	if !slices.Contains(f.drains, n.id) {
		f.drains = append(f.drains, n.id)
	}
	f.makeRoom()
}

// endDrains ends the drains of the nodes from which nothing more can be moved.
func endDrains(f *Nodes) {
	f.drains = slices.DeleteFunc(f.drains, func(id NodeID) bool {
		n := f.known[id]
		if n == nil {
			return true
		}
		if len(n.passing) > 0 || slices.ContainsFunc(f.workloads, func(w Workload) bool { return w.Leaving(id) }) {
			return false
		}
		f.drained(n)
		return true
	})
}

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
