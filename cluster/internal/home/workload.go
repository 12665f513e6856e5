package home

import "slices"

// A Workload is what a coordinator keeps running on the nodes: it decides which actors run where.
// All workloads of a coordinator are told what happens to all labels. Each of these calls may be
// repeated, and may concern a label or a request that the workload does not know.
type Workload interface {
	// Handle handles an input, of which the nodes have taken note.
	Handle(in Input)
	// Started: the actor of that request runs.
	Started(label string, id RequestID, on NodeID)
	// Failed: the actor could not be started, and does not run.
	Failed(label string, id RequestID, on NodeID, why Ending)
	// Stopped: the actor has terminated as requested, or does not run there.
	Stopped(label string, id RequestID, on NodeID)
	// Refused: the agent does not stop the actor, because it has a later generation.
	Refused(label string, id RequestID, on NodeID, why string)
	// Ended: the actor has terminated without a request.
	Ended(label string, id RequestID, on NodeID, why Ending)
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

// workloads are those of one coordinator.
type workloads []Workload

func (all workloads) tell(what func(Workload)) {
	for _, w := range all {
		what(w)
	}
}

func (all workloads) unwanted(label string) bool {
	return slices.ContainsFunc(all, func(w Workload) bool { return w.Unwanted(label) })
}
