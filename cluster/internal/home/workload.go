package home

import (
	"maps"
	"slices"
	"time"
)

// A Workload is what a coordinator keeps running on the nodes: it decides which actors run where.
// All workloads of a coordinator are told what happens to all labels. Each of these calls may be
// repeated, and may concern a label or a request that the workload does not know.
type Workload interface {
	// Handle handles an input, of which the nodes have taken note.
	Handle(in Input)
	// Told tells of the actor of a request.
	Told(Outcome)
	// Lost: that incarnation of a node is no longer a member, and none of its actors runs. The
	// nodes have forgotten its places.
	Lost(on NodeID)
	// Leaving reports whether the workload is about to move an actor away from a node, but has not
	// requested its stop yet.
	Leaving(on NodeID) bool
	// Unwanted reports whether an orphan of that label is to be stopped: an actor that no request
	// of this coordinator has started, and that the workload does not start by the same request.
	Unwanted(label string) bool
	// MoreRoom touches all labels that may wait for a node. Those on nodes that are being drained
	// have been touched.
	MoreRoom()
	// Review places, starts, stops or moves the actor of a label that has been touched. It is
	// called when the nodes are settled.
	Review(label string)
	// Serve does what concerns no single label, such as answering requests. It is called when the
	// nodes are settled and no label is left to review.
	Serve()
}

// An Outcome is what has become of the actor of a request.
type Outcome struct {
	Label string
	ID    RequestID
	On    NodeID
	What  What
	Why   Ending // of Failed, Refused and Quit
}

// What an [Outcome] is.
type What uint8

// What has become of an actor.
const (
	Runs    What = iota // it has started
	Failed              // it could not be started, and does not run
	Stopped             // it has terminated as requested, or does not run there
	Refused             // the agent does not stop it, because it has a later generation
	Quit                // it has terminated without a request
)

// workloads are those of one coordinator.
type workloads []Workload

func (all workloads) tell(what func(Workload)) {
	for _, w := range all {
		what(w)
	}
}

func (all workloads) told(p *Place, what What, why Ending) {
	all.tell(func(w Workload) {
		w.Told(Outcome{Label: p.Request.Label, ID: p.Request.ID, On: p.On, What: what, Why: why})
	})
}

func (all workloads) unwanted(label string) bool {
	return slices.ContainsFunc(all, func(w Workload) bool { return w.Unwanted(label) })
}

// Step handles an input, and lets the workloads act until nothing changes any more. [Nodes.Take]
// then returns what is to be done. If now is before the time of the last step, that counts.
func (f *Nodes) Step(in Input, now time.Time) {
	f.advance(now)
	switch in := in.(type) {
	case ViewChanged:
		f.update(in.Nodes, in.Gone)
	case Received:
		f.receive(in.Message)
	case Drain:
		f.drain(in.Node, in.Token)
	}
	f.workloads.tell(func(w Workload) { w.Handle(in) })
	f.finish()
}

// finish ends a step: it handles the deadlines that have passed, and lets the workloads act.
func (f *Nodes) finish() {
	f.tick()
	f.reconcile()
	if f.Settled() {
		endDrains(f)
	}
}

// reconcile repeats itself because what one workload has placed may concern another. Before the
// nodes are settled labels stay touched: what is known then is not the whole truth.
func (f *Nodes) reconcile() {
	unfinished := func() bool { return f.moreRoom || f.Settled() && len(f.touched) > 0 }
	for again := true; again; again = unfinished() {
		if f.moreRoom {
			f.moreRoom = false
			f.known.touchDraining(&f.changes)
			f.workloads.tell(Workload.MoreRoom)
		}
		if f.Settled() {
			labels := slices.Sorted(maps.Keys(f.touched))
			clear(f.touched)
			for _, label := range labels {
				f.workloads.tell(func(w Workload) { w.Review(label) })
			}
		}
		for _, p := range f.orphans.sorted() {
			if f.workloads.unwanted(p.Request.Label) {
				f.Stop(p.On, p.Request.Label, "")
			}
		}
		if f.Settled() && !unfinished() {
			f.workloads.tell(Workload.Serve)
		}
	}
}

// touchDraining touches the labels that may be able to leave their nodes now.
func (k known) touchDraining(c *changes) {
	for _, n := range k {
		if n.draining {
			for label := range n.places {
				c.Touch(label)
			}
		}
	}
}
