package placement

import "time"

// see takes in how the cluster stands.
func (f *fleet) see(v viewSeen) {
	if !f.seen {
		f.seen, f.settleAt = true, f.now.Add(f.cfg.ackTimeout)
	}
	f.names, f.shown, f.roomier = map[string]nodeID{}, nil, true
	for _, n := range v.nodes {
		if id, ok := f.names[n.Name]; !ok || id.incarnation < n.Incarnation {
			f.names[n.Name] = nodeID{name: n.Name, incarnation: n.Incarnation}
		}
	}
	for _, n := range f.nodes {
		n.member = f.names[n.id.name] == n.id
	}
	for _, n := range v.nodes {
		if id := (nodeID{name: n.Name, incarnation: n.Incarnation}); f.names[n.Name] == id {
			f.incarnation(id).see(n)
		}
	}
	f.heedGone(v.gone)
	f.askNew()
}

// incarnation returns what is known of one, and begins to know it.
func (f *fleet) incarnation(id nodeID) *fleetNode {
	n := f.nodes[id]
	if n == nil {
		n = &fleetNode{id: id, Node: Node{Name: id.name, Incarnation: id.incarnation}, places: map[string]*place{}}
		f.nodes[id] = n
	}
	return n
}

// see takes in what the cluster knows of a member. One that was up, and is not though it
// is a member still, leaves in good order.
func (n *fleetNode) see(now Node) {
	was := n.Node
	n.member = true
	n.Node = now
	n.Ready, n.Draining = was.Ready, false
	n.Actors, n.passing = was.Actors, was.passing
	n.draining = n.draining || was.Up && !now.Up
}

// heedGone sets until when the nodes that are no members count as running: not at all
// when nothing says that they may, or when they are back in another incarnation.
func (f *fleet) heedGone(all []gone) {
	until := map[nodeID]time.Time{}
	for _, g := range all {
		until[nodeID{name: g.name, incarnation: g.incarnation}] = g.until
	}
	for id, n := range f.nodes {
		at, may := until[id]
		_, back := f.names[id.name]
		switch {
		case n.member, may && !back && at.IsZero():
			f.ends.clear(id)
		case may && !back:
			f.ends.set(id, at)
		default:
			f.ends.set(id, f.now)
		}
	}
}

// loseGone forgets nodes whose time is over.
func (f *fleet) loseGone() {
	if !f.seen {
		return
	}
	for _, id := range sortedNodes(f.ends.pass(f.now)) {
		f.lose(f.nodes[id])
	}
}

func (f *fleet) lose(n *fleetNode) {
	for _, p := range n.sorted() {
		f.drop(n, p)
	}
	for _, t := range f.tenants {
		t.lost(n.id)
	}
	f.drained(n)
	f.asks.clear(n.id)
	delete(f.nodes, n.id)
}

// askNew asks those for a report that have never been asked.
func (f *fleet) askNew() {
	for _, id := range f.members() {
		n := f.nodes[id]
		if _, asked := f.asks.of(id); !asked && !n.Ready {
			f.ask(n)
		}
	}
}

// ask asks a node for a report, or for what comes after what it has reported already, until
// it answers; less and less often, as it may run no placement at all.
func (f *fleet) ask(n *fleetNode) {
	if n == nil || !n.member {
		return
	}
	f.asks.set(n.id, f.now.Add(f.cfg.ackTimeout<<min(n.asked, 4)))
	n.asked++
	f.send(n.id, reportRequest{Epoch: f.cfg.epoch, After: n.heard})
}

// askAnew asks a node for a report from its beginning on.
func (f *fleet) askAnew(n *fleetNode) {
	if n != nil {
		n.heard = ""
		f.ask(n)
	}
}

// members returns the members, sorted.
func (f *fleet) members() []nodeID {
	all := make([]nodeID, 0, len(f.names))
	for _, id := range f.names {
		all = append(all, id)
	}
	return sortedNodes(all)
}
