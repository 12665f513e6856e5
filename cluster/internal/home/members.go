package home

import (
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
