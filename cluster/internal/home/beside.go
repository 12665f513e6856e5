package home

// StartBeside is [Nodes.Start] for an actor that begins after another one. Its request is sent once
// the actor of the label anchor runs on the node.
func (f *Nodes) StartBeside(on NodeID, anchor string, r StartRequest) RequestID {
	if r.ID.IsZero() {
		f.lastRequest++
		r.ID = RequestID{Epoch: f.cfg.Epoch, N: f.lastRequest}
	}
	n := f.known.incarnation(on)
	if p := n.places[r.Label]; p != nil {
		f.dropPlace(n, p)
	}
	p := &Place{On: on, Request: r, Phase: Starting, since: f.now, anchor: anchor}
	f.addPlace(n, p)
	f.request(n, p)
	return r.ID
}

// A Follower is an actor that has an anchor, and is being started; see [Nodes.StartBeside].
type Follower struct {
	nodes *Nodes
	on    *nodeState
	place *Place
}

// FollowerOn returns the follower of that label on a node. It returns false if there is no
// follower, or if it runs.
func FollowerOn(f *Nodes, on NodeID, label string) (Follower, bool) {
	n := f.known[on]
	if n == nil {
		return Follower{}, false
	}
	p := n.places[label]
	return Follower{nodes: f, on: n, place: p}, p != nil && p.anchor != "" && p.Phase == Starting
}

// Resume sends the request of a follower that has waited for its anchor, if that runs now.
func (w Follower) Resume() {
	if !w.place.asked {
		w.nodes.request(w.on, w.place)
	}
}

// Stranded reports whether a follower is not known to run, and its anchor is neither on its node
// nor on its way there. It returns false while the node has not reported whether it runs the
// follower.
func (w Follower) Stranded() bool {
	return !w.place.ran && w.on.hasReported(w.place.Request.Label) && !Keeps(w.on.Node, w.place.anchor)
}

// Withdraw takes the start of a follower back. It returns true if the follower was not requested
// yet, so that its place is free at once. Otherwise the follower is being stopped.
func (w Follower) Withdraw() bool {
	if w.place.asked {
		w.nodes.Stop(w.place.On, w.place.Request.Label, "")
		return false
	}
	w.nodes.dropPlace(w.on, w.place)
	return true
}

// waits reports whether a place of n waits for its anchor. An actor that has run goes on without.
func (n *nodeState) waits(p *Place) bool {
	if p.Phase != Starting || p.anchor == "" || p.ran {
		return false
	}
	anchor := n.places[p.anchor]
	return anchor == nil || anchor.Phase != Running || anchor.Orphan
}
