package plan

import (
	"maps"
	"slices"
)

// hear takes in what an agent says. What is not of a node that is known, or of a request
// that waits for it, has come too late, and means nothing.
func (f *nodes) receive(msg FromAgent) {
	n := f.known[nodeID{name: msg.Node, incarnation: msg.Incarnation}]
	if n == nil {
		return
	}
	if msg.greets() && !n.Ready {
		n.reportAttempts = 0
		f.requestReport(n)
	}
	if msg.StartAck != nil {
		f.receiveStartAck(n, *msg.StartAck)
	}
	if msg.StopAck != nil {
		f.receiveStopAck(n, *msg.StopAck)
	}
	if msg.Ended != nil {
		f.receiveEnded(n, *msg.Ended)
	}
	if msg.Report != nil {
		f.receiveReport(n, *msg.Report)
	}
}

// placed returns the place of a request on n.
func (n *nodeState) placed(label string, id RequestID) *place {
	if p := n.places[label]; p != nil && p.start.ID == id {
		return p
	}
	return nil
}

// hearStart: a failure is final, whatever was said before; it also says that what has run
// runs no more.
func (f *nodes) receiveStartAck(n *nodeState, ack StartAck) {
	p := n.placed(ack.Label, ack.ID)
	switch {
	case p == nil || p.phase == stopping:
	case ack.Error != "":
		f.dropPlace(n, p)
		f.notify(ack.Label, func(t workload) { t.failed(ack.Label, ack.ID, n.id, ack.Error) })
	case p.phase == starting:
		f.setRunning(p)
	}
}

func (f *nodes) setRunning(p *place) {
	f.enter(p, running)
	f.unanswered.clear(p.key())
	f.touch(p)
	f.notify(p.start.Label, func(t workload) { t.started(p.start.Label, p.start.ID, p.on) })
}

// hearStop: what a former coordinator has stopped has ended without this one having asked.
func (f *nodes) receiveStopAck(n *nodeState, ack StopAck) {
	p := n.placed(ack.Label, ack.ID)
	switch {
	case p == nil || p.phase != stopping && ack.Error != "":
	case p.phase != stopping:
		f.dropPlace(n, p)
		f.notify(ack.Label, func(t workload) { t.ended(ack.Label, ack.ID, n.id, "stopped by a former coordinator") })
	case ack.Error != "":
		f.enter(p, running)
		n.passing = removeSorted(n.passing, ack.Label)
		f.unanswered.clear(p.key())
		f.touch(p)
		f.notify(ack.Label, func(t workload) { t.refused(ack.Label, ack.ID, n.id, ack.Error) })
	default:
		f.dropPlace(n, p)
		f.notify(ack.Label, func(t workload) { t.stopped(ack.Label, ack.ID, n.id) })
	}
}

// hearEnded: the agent says it until it is told to stop that request. Where it is being
// told already, that will be answered.
func (f *nodes) receiveEnded(n *nodeState, e Ended) {
	p := n.placed(e.Label, e.ID)
	if p != nil && p.phase == stopping {
		return
	}
	var g Generation
	if p != nil {
		g = p.start.Generation
		f.dropPlace(n, p)
	}
	f.sendStop(n.id, e.ID, e.Label, g)
	if p != nil {
		f.notify(e.Label, func(t workload) { t.ended(e.Label, e.ID, n.id, e.Error) })
	}
}

// hearReport compares what runs on n with what is believed to. A report may be older than
// that belief, so nothing is taken to have ended for not being in it: the request is sent
// again, and the answer to that counts.
func (f *nodes) receiveReport(n *nodeState, r Report) {
	if r.Epoch < f.cfg.Epoch {
		f.requestReport(n)
	}
	if r.Epoch != f.cfg.Epoch {
		return
	}
	f.progress(n, r)
	reports := n.latest(r)
	for _, label := range slices.Sorted(maps.Keys(reports)) {
		if n.places[label] == nil {
			f.addOrphan(n, reports[label])
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
func (f *nodes) progress(n *nodeState, r Report) {
	if _, asked := f.reportsDue.of(n.id); !asked || r.After != n.reportedTo {
		return
	}
	n.reportAttempts = 0
	if r.More {
		n.reportedTo = r.last()
		f.requestReport(n)
		return
	}
	n.reportedTo = ""
	f.reportsDue.clear(n.id)
	if !n.Ready {
		n.Ready, f.cachedView, f.moreRoom = true, nil, true
	}
}

// last returns the last label that r tells of.
func (r Report) last() string {
	if len(r.Running) == 0 {
		return r.After
	}
	return r.Running[len(r.Running)-1].Label
}

// about reports whether r tells of a label, if there were anything to be told.
func (r Report) about(label string) bool {
	return label > r.After && (!r.More || label <= r.last())
}

// hasTold reports whether n has told what it has of a label.
func (n *nodeState) hasReported(label string) bool { return n.Ready || label <= n.reportedTo }

// latest returns what a report says of each label. Of two that have one, as the later waits
// for the end of the other, it is that which is known to be there, or else the later.
func (n *nodeState) latest(r Report) map[string]Reported {
	all := map[string]Reported{}
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
func (f *nodes) compare(n *nodeState, p *place, a Reported) {
	switch {
	case p.orphan && p.phase != stopping:
		if a.ID.isZero() {
			f.dropPlace(n, p) // nobody has counted on it
		}
	case p.phase == starting && a.ID == p.start.ID && a.Started:
		f.setRunning(p)
	case p.phase == starting && a.ID == p.start.ID:
		f.unanswered.set(p.key(), f.now.Add(f.cfg.AckTimeout))
	case p.phase == running && a.ID != p.start.ID:
		f.enter(p, starting)
		f.touch(p)
		f.request(n, p)
	default:
		f.request(n, p)
	}
}

// stray makes an actor known that is on n, nobody knows why.
func (f *nodes) addOrphan(n *nodeState, a Reported) {
	p := &place{on: n.id, orphan: true, since: f.now, start: StartRequest{ID: a.ID, Label: a.Label, Generation: a.Generation}}
	if a.Started {
		p.phase = running
	}
	f.orphans[p] = true
	f.addPlace(n, p)
	f.notify(a.Label, func(t workload) { t.found(a.Label, n.id, a) })
}

func (f *nodes) notify(label string, do func(workload)) {
	if t := f.owner(label); t != nil {
		do(t)
	}
}

func (n *nodeState) sorted() []*place {
	all := make([]*place, 0, len(n.places))
	for _, label := range slices.Sorted(maps.Keys(n.places)) {
		all = append(all, n.places[label])
	}
	return all
}

func sortedNodeIDs(all []nodeID) []nodeID {
	slices.SortFunc(all, compareNodeIDs)
	return all
}
