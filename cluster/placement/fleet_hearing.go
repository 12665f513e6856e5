package placement

import (
	"maps"
	"slices"
)

// hear takes in what an agent says. What is not of a node that is known, or of a request
// that waits for it, has come too late, and means nothing.
func (f *fleet) hear(msg fromAgent) {
	n := f.nodes[nodeID{name: msg.Node, incarnation: msg.Incarnation}]
	if n == nil {
		return
	}
	if msg.greets() && !n.Ready {
		n.asked = 0
		f.ask(n)
	}
	if msg.StartAck != nil {
		f.hearStart(n, *msg.StartAck)
	}
	if msg.StopAck != nil {
		f.hearStop(n, *msg.StopAck)
	}
	if msg.Ended != nil {
		f.hearEnded(n, *msg.Ended)
	}
	if msg.Report != nil {
		f.hearReport(n, *msg.Report)
	}
}

// placed returns the place of a request on n.
func (n *fleetNode) placed(label string, id requestID) *place {
	if p := n.places[label]; p != nil && p.start.ID == id {
		return p
	}
	return nil
}

// hearStart: a failure is final, whatever was said before; it also says that what has run
// runs no more.
func (f *fleet) hearStart(n *fleetNode, ack startAck) {
	p := n.placed(ack.Label, ack.ID)
	switch {
	case p == nil || p.phase == stopping:
	case ack.Error != "":
		f.drop(n, p)
		f.tell(ack.Label, func(t tenant) { t.failed(ack.Label, ack.ID, n.id, ack.Error) })
	case p.phase == starting:
		f.runs(p)
	}
}

func (f *fleet) runs(p *place) {
	f.enter(p, running)
	f.unanswered.clear(p.key())
	f.touch(p)
	f.tell(p.start.Label, func(t tenant) { t.started(p.start.Label, p.start.ID, p.on) })
}

// hearStop: what a former coordinator has stopped has ended without this one having asked.
func (f *fleet) hearStop(n *fleetNode, ack stopAck) {
	p := n.placed(ack.Label, ack.ID)
	switch {
	case p == nil || p.phase != stopping && ack.Error != "":
	case p.phase != stopping:
		f.drop(n, p)
		f.tell(ack.Label, func(t tenant) { t.ended(ack.Label, ack.ID, n.id, "stopped by a former coordinator") })
	case ack.Error != "":
		f.enter(p, running)
		n.passing = removeSorted(n.passing, ack.Label)
		f.unanswered.clear(p.key())
		f.touch(p)
		f.tell(ack.Label, func(t tenant) { t.refused(ack.Label, ack.ID, n.id, ack.Error) })
	default:
		f.drop(n, p)
		f.tell(ack.Label, func(t tenant) { t.stopped(ack.Label, ack.ID, n.id) })
	}
}

// hearEnded: the agent says it until it is told to stop that request. Where it is being
// told already, that will be answered.
func (f *fleet) hearEnded(n *fleetNode, e ended) {
	p := n.placed(e.Label, e.ID)
	if p != nil && p.phase == stopping {
		return
	}
	var g Generation
	if p != nil {
		g = p.start.Generation
		f.drop(n, p)
	}
	f.sendStop(n.id, e.ID, e.Label, g)
	if p != nil {
		f.tell(e.Label, func(t tenant) { t.ended(e.Label, e.ID, n.id, e.Error) })
	}
}

// hearReport compares what runs on n with what is believed to. A report may be older than
// that belief, so nothing is taken to have ended for not being in it: the request is sent
// again, and the answer to that counts.
func (f *fleet) hearReport(n *fleetNode, r report) {
	if r.Epoch < f.cfg.epoch {
		f.ask(n)
	}
	if r.Epoch != f.cfg.epoch {
		return
	}
	f.progress(n, r)
	reports := n.latest(r)
	for _, label := range slices.Sorted(maps.Keys(reports)) {
		if n.places[label] == nil {
			f.stray(n, reports[label])
		}
	}
	for _, p := range n.sorted() {
		if r.about(p.start.Label) {
			f.compare(n, p, reports[p.start.Label])
		}
	}
}

// progress asks for what comes after r, if r is what was asked for. When nothing does the
// node is ready.
func (f *fleet) progress(n *fleetNode, r report) {
	if _, asked := f.asks.of(n.id); !asked || r.After != n.heard {
		return
	}
	n.asked = 0
	if r.More {
		n.heard = r.last()
		f.ask(n)
		return
	}
	n.heard = ""
	f.asks.clear(n.id)
	if !n.Ready {
		n.Ready, f.shown, f.roomier = true, nil, true
	}
}

// last returns the last label that r tells of.
func (r report) last() string {
	if len(r.Running) == 0 {
		return r.After
	}
	return r.Running[len(r.Running)-1].Label
}

// about reports whether r tells of a label, if there were anything to be told.
func (r report) about(label string) bool {
	return label > r.After && (!r.More || label <= r.last())
}

// hasTold reports whether n has told what it has of a label.
func (n *fleetNode) hasTold(label string) bool { return n.Ready || label <= n.heard }

// latest returns what a report says of each label. Of two that have one, as the later waits
// for the end of the other, it is that which is known to be there, or else the later.
func (n *fleetNode) latest(r report) map[string]reported {
	all := map[string]reported{}
	for _, a := range r.Running {
		was, twice := all[a.Label]
		known := n.placed(a.Label, was.ID) != nil
		if !twice || !known && (was.ID.less(a.ID) || n.placed(a.Label, a.ID) != nil) {
			all[a.Label] = a
		}
	}
	return all
}

// compare looks at one place, and what a report says of its label.
func (f *fleet) compare(n *fleetNode, p *place, a reported) {
	switch {
	case p.stray && p.phase != stopping:
		if a.ID.isZero() {
			f.drop(n, p) // nobody has counted on it
		}
	case p.phase == starting && a.ID == p.start.ID && a.Started:
		f.runs(p)
	case p.phase == starting && a.ID == p.start.ID:
		f.unanswered.set(p.key(), f.now.Add(f.cfg.ackTimeout))
	case p.phase == running && a.ID != p.start.ID:
		f.enter(p, starting)
		f.touch(p)
		f.request(n, p)
	default:
		f.request(n, p)
	}
}

// stray makes an actor known that is on n, nobody knows why.
func (f *fleet) stray(n *fleetNode, a reported) {
	p := &place{on: n.id, stray: true, since: f.now, start: startRequest{ID: a.ID, Label: a.Label, Generation: a.Generation}}
	if a.Started {
		p.phase = running
	}
	f.strays[p] = true
	f.put(n, p)
	f.tell(a.Label, func(t tenant) { t.found(a.Label, n.id, a) })
}

func (f *fleet) tell(label string, do func(tenant)) {
	if t := f.owner(label); t != nil {
		do(t)
	}
}

func (n *fleetNode) sorted() []*place {
	all := make([]*place, 0, len(n.places))
	for _, label := range slices.Sorted(maps.Keys(n.places)) {
		all = append(all, n.places[label])
	}
	return all
}

func sortedNodes(all []nodeID) []nodeID {
	slices.SortFunc(all, compareNodes)
	return all
}
