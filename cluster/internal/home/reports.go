package home

import (
	"cmp"
	"maps"
	"slices"
)

// requestMissingReports asks each member for a report if it has not been asked yet.
func (f *Nodes) requestMissingReports() {
	for _, id := range f.members.sorted() {
		n := f.known[id]
		if _, asked := f.reportsDue.Of(id); !asked && !n.Ready {
			f.requestReport(n)
		}
	}
}

// requestReport asks a node for a report, or for its continuation, until the node answers. The time
// between two requests grows from [Config.AckTimeout] to 16 times that, because the node may not
// run placement at all.
func (f *Nodes) requestReport(n *nodeState) {
	if n == nil || !n.member {
		return
	}
	f.reportsDue.Set(n.id, f.now.Add(f.cfg.AckTimeout<<min(n.reportAttempts, 4)))
	n.reportAttempts++
	f.send(n.id, ReportRequest{Epoch: f.cfg.Epoch, After: n.reportedTo})
}

// RequestFullReport asks a node for a report from its beginning.
func (f *Nodes) RequestFullReport(id NodeID) {
	if n := f.known[id]; n != nil {
		n.reportedTo = ""
		f.requestReport(n)
	}
}

// receive handles a message of an agent. A message of an unknown node, or about a request that has
// been superseded, comes too late and is ignored.
func (f *Nodes) receive(msg FromAgent) {
	n := f.known[NodeID{Name: msg.Node, Incarnation: msg.Incarnation}]
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

// placed returns the place of a request on n, or nil.
func (n *nodeState) placed(label string, id RequestID) *Place {
	if p := n.places[label]; p != nil && p.Request.ID == id {
		return p
	}
	return nil
}

// receiveStartAck handles a StartAck. A failure is final: if the actor had been running, it has
// ended.
func (f *Nodes) receiveStartAck(n *nodeState, ack StartAck) {
	p := n.placed(ack.Label, ack.ID)
	switch {
	case p == nil || p.Phase == Stopping:
	case ack.Error != "":
		f.miss(p, ack.Error, f.now, &f.outbox)
		f.dropPlace(n, p)
		f.workloads.told(p, Failed, Ending{ack.Error, ack.FencedBy})
	case p.Phase == Starting:
		f.setRunning(p)
	}
}

func (f *Nodes) setRunning(p *Place) {
	p.enter(Running, f.now)
	p.ran = true
	f.unanswered.Clear(p.key())
	f.touch(p)
	f.fill(p, "", &f.outbox)
	f.workloads.told(p, Runs, Ending{})
}

// receiveStopAck handles a StopAck. If a former coordinator has stopped the actor, it ends without
// a request of this coordinator.
func (f *Nodes) receiveStopAck(n *nodeState, ack StopAck) {
	p := n.placed(ack.Label, ack.ID)
	switch {
	case p == nil || p.Phase != Stopping && ack.Error != "":
	case p.Phase != Stopping:
		f.leave(p, EndedAlone, f.now)
		f.dropPlace(n, p)
		f.workloads.told(p, Quit, Ending{Text: "stopped by a former coordinator"})
	case ack.Error != "":
		p.enter(Running, f.now)
		n.passing = removeSorted(n.passing, ack.Label)
		f.unanswered.Clear(p.key())
		f.touch(p)
		f.fill(p, ack.Error, &f.outbox)
		f.workloads.told(p, Refused, Ending{Text: ack.Error})
	default:
		f.dropPlace(n, p)
		f.workloads.told(p, Stopped, Ending{})
	}
}

// receiveEnded handles an Ended. The agent repeats the message until it gets a StopRequest for that
// ID. If it has already got one, its StopAck will follow.
func (f *Nodes) receiveEnded(n *nodeState, e Ended) {
	p := n.placed(e.Label, e.ID)
	if p != nil && p.Phase == Stopping {
		return
	}
	ended := StartRequest{ID: e.ID, Label: e.Label, Epoch: f.cfg.Epoch}
	if p != nil {
		ended.Generation = p.Request.Generation
		if !f.leave(p, EndedAlone, f.now) {
			f.miss(p, cmp.Or(e.Error, StoppedItself), f.now, &f.outbox)
		}
		f.dropPlace(n, p)
	}
	f.send(n.id, ended.stop())
	if p != nil {
		f.workloads.told(p, Quit, Ending{e.Error, e.FencedBy})
	}
}

// receiveReport compares what runs on n with the places that are known. A report may be older than
// the places, so an actor that is missing in it may still run. Its request is sent again, and the
// answer decides.
func (f *Nodes) receiveReport(n *nodeState, r Report) {
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
		if r.about(p.Request.Label) {
			f.compare(n, p, reports[p.Request.Label])
		}
	}
}

// progress asks for the continuation of r, if r is the report that was asked for. After the last
// part the node is ready.
func (f *Nodes) progress(n *nodeState, r Report) {
	if _, asked := f.reportsDue.Of(n.id); !asked || r.After != n.reportedTo {
		return
	}
	n.reportAttempts = 0
	if r.More {
		n.reportedTo = r.last()
		f.requestReport(n)
		return
	}
	n.reportedTo = ""
	f.reportsDue.Clear(n.id)
	if !n.Ready {
		n.Ready = true
		f.makeRoom()
	}
}

// last returns the last label in r.
func (r Report) last() string {
	if len(r.Running) == 0 {
		return r.After
	}
	return r.Running[len(r.Running)-1].Label
}

// about reports whether r would contain an actor of that label if there were one.
func (r Report) about(label string) bool {
	return label > r.After && (!r.More || label <= r.last())
}

// hasReported reports whether n has reported whether it runs a label.
func (n *nodeState) hasReported(label string) bool { return n.Ready || label <= n.reportedTo }

// latest returns one actor of a report for each label. A label has two actors if the later one
// waits for the end of the other. Then latest returns the known one if there is one, and otherwise
// the later one.
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

// compare updates a place from a report's entry for its label. An orphan that has ended is dropped,
// because no workload relies on it.
func (f *Nodes) compare(n *nodeState, p *Place, a Reported) {
	switch {
	case p.Orphan && p.Phase != Stopping:
		if a.ID.IsZero() {
			f.dropPlace(n, p)
		}
	case p.Phase == Starting && a.ID == p.Request.ID && a.Started:
		f.setRunning(p)
	case p.Phase == Starting && a.ID == p.Request.ID:
		p.asked = true
		f.unanswered.Set(p.key(), f.now.Add(f.cfg.AckTimeout))
	case p.Phase == Running && a.ID != p.Request.ID:
		p.enter(Starting, f.now)
		f.touch(p)
		f.request(n, p)
	default:
		f.request(n, p)
	}
}

// addOrphan adds the place of an actor that this coordinator has not started.
func (f *Nodes) addOrphan(n *nodeState, a Reported) {
	p := &Place{On: n.id, Orphan: true, since: f.now, Request: StartRequest{ID: a.ID, Label: a.Label, Generation: a.Generation}}
	if a.Started {
		p.Phase = Running
	}
	f.orphans[p] = true
	f.addPlace(n, p)
}

// sorted returns the places on n, sorted by label.
func (n *nodeState) sorted() []*Place {
	all := make([]*Place, 0, len(n.places))
	for _, label := range slices.Sorted(maps.Keys(n.places)) {
		all = append(all, n.places[label])
	}
	return all
}
