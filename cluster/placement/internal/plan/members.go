package plan

import (
	"slices"
	"strings"
	"time"

	"maps"
)

// see takes in how the cluster stands.
func (f *nodes) update(v ViewChanged) {
	if !f.hasView {
		f.hasView, f.settleAt = true, f.now.Add(f.cfg.AckTimeout)
	}
	f.names, f.cachedView, f.moreRoom = map[string]nodeID{}, nil, true
	for _, n := range v.Nodes {
		if id, ok := f.names[n.Name]; !ok || id.incarnation < n.Incarnation {
			f.names[n.Name] = nodeID{name: n.Name, incarnation: n.Incarnation}
		}
	}
	for _, n := range f.known {
		n.member = f.names[n.id.name] == n.id
	}
	for _, n := range v.Nodes {
		if id := (nodeID{name: n.Name, incarnation: n.Incarnation}); f.names[n.Name] == id {
			f.incarnation(id).update(n)
		}
	}
	f.updateGone(v.Gone)
	f.requestMissingReports()
}

// incarnation returns what is known of one, and begins to know it.
func (f *nodes) incarnation(id nodeID) *nodeState {
	n := f.known[id]
	if n == nil {
		n = &nodeState{id: id, Node: Node{Name: id.name, Incarnation: id.incarnation}, places: map[string]*place{}}
		f.known[id] = n
	}
	return n
}

// see takes in what the cluster knows of a member. One that was up, and is not though it
// is a member still, leaves in good order.
func (n *nodeState) update(now Node) {
	was := n.Node
	n.member = true
	n.Node = now
	n.Ready, n.Draining = was.Ready, false
	n.Actors, n.passing = was.Actors, was.passing
	n.draining = n.draining || was.Up && !now.Up
}

// heedGone sets until when the nodes that are no members count as running: not at all
// when nothing says that they may, or when they are back in another incarnation.
func (f *nodes) updateGone(all []Gone) {
	until := map[nodeID]time.Time{}
	for _, g := range all {
		until[nodeID{name: g.Name, incarnation: g.Incarnation}] = g.Until
	}
	for id, n := range f.known {
		at, may := until[id]
		_, back := f.names[id.name]
		switch {
		case n.member, may && !back && at.IsZero():
			f.goneUntil.clear(id)
		case may && !back:
			f.goneUntil.set(id, at)
		default:
			f.goneUntil.set(id, f.now)
		}
	}
}

// loseGone forgets nodes whose time is over.
func (f *nodes) expireGone() {
	if !f.hasView {
		return
	}
	for _, id := range sortedNodeIDs(f.goneUntil.pass(f.now)) {
		f.lose(f.known[id])
	}
}

func (f *nodes) lose(n *nodeState) {
	for _, p := range n.sorted() {
		f.dropPlace(n, p)
	}
	for _, t := range f.workloads {
		t.lost(n.id)
	}
	f.drained(n)
	f.reportsDue.clear(n.id)
	delete(f.known, n.id)
}

// askNew asks those for a report that have never been asked.
func (f *nodes) requestMissingReports() {
	for _, id := range f.members() {
		n := f.known[id]
		if _, asked := f.reportsDue.of(id); !asked && !n.Ready {
			f.requestReport(n)
		}
	}
}

// ask asks a node for a report, or for what comes after what it has reported already, until
// it answers; less and less often, as it may run no placement at all.
func (f *nodes) requestReport(n *nodeState) {
	if n == nil || !n.member {
		return
	}
	f.reportsDue.set(n.id, f.now.Add(f.cfg.AckTimeout<<min(n.reportAttempts, 4)))
	n.reportAttempts++
	f.send(n.id, ReportRequest{Epoch: f.cfg.Epoch, After: n.reportedTo})
}

// askAnew asks a node for a report from its beginning on.
func (f *nodes) requestFullReport(n *nodeState) {
	if n != nil {
		n.reportedTo = ""
		f.requestReport(n)
	}
}

// members returns the members, sorted.
func (f *nodes) members() []nodeID {
	all := make([]nodeID, 0, len(f.names))
	for _, id := range f.names {
		all = append(all, id)
	}
	return sortedNodeIDs(all)
}

// drain has a node emptied as far as that is possible, and answers then. A node that is
// not there is empty.
func (f *nodes) drain(in Drain) {
	n := f.incarnation(nodeID{name: in.Node, incarnation: in.Incarnation})
	if f.hasView && !n.member {
		f.goneUntil.set(n.id, f.now)
	}
	n.draining = true
	n.drainTokens = append(n.drainTokens, in.Token)
	if !slices.Contains(f.drains, n.id) {
		f.drains = append(f.drains, n.id)
	}
	f.cachedView, f.moreRoom = nil, true
}

// endDrains answers who waits for drains of nodes on which nothing can be moved any more.
func (f *nodes) endDrains() {
	f.drains = slices.DeleteFunc(f.drains, func(id nodeID) bool {
		n := f.known[id]
		if n == nil {
			return true
		}
		if f.busy(id) || slices.ContainsFunc(f.workloads, func(t workload) bool { return t.leaving(id) }) {
			return false
		}
		f.drained(n)
		return true
	})
}

// drained answers who waits for the end of a node's drain.
func (f *nodes) drained(n *nodeState) {
	for _, token := range n.drainTokens {
		f.reply(token, nil, nil)
	}
	n.drainTokens = nil
}

func (f *nodes) sortedOrphans() []*place {
	if len(f.orphans) == 0 {
		return nil
	}
	return slices.SortedFunc(maps.Keys(f.orphans), func(a, b *place) int {
		if c := strings.Compare(a.start.Label, b.start.Label); c != 0 {
			return c
		}
		return compareNodeIDs(a.on, b.on)
	})
}
