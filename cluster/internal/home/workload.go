package home

import "slices"

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
