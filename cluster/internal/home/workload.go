package home

import "time"

// A Workload is what a coordinator keeps running on the nodes: it decides which actors run where.
// The nodes tell a workload what happens to its labels. Each of these calls may be repeated, and
// may concern a request that the workload no longer knows.
type Workload interface {
	// Owns reports whether the label belongs to the workload. A label still belongs to it while its
	// actor is being removed.
	Owns(label string) bool
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
	// Found: an agent reports an actor that no request of this coordinator has started. It is an
	// orphan until the workload starts it again by the same request, or stops it.
	Found(label string, on NodeID, actor Reported)
	// Lost: that incarnation of a node is no longer a member, and none of its actors runs. The
	// nodes have forgotten its places.
	Lost(on NodeID)
	// Leaving reports whether the workload is about to move an actor away from a node, but has not
	// requested its stop yet.
	Leaving(on NodeID) bool
	// Notice remembers which actors Reconcile has to review: those of the touched labels, and, if
	// moreRoom is set, all that may wait for a node. The map must not be changed or kept.
	Notice(touched map[string]bool, moreRoom bool)
	// Reconcile places, starts, stops and moves actors as a change requires. It is called last in
	// each step.
	Reconcile()
	// Next returns when a step is due.
	Next() (time.Time, bool)
}

// workloads are those of one coordinator. A label belongs to one of them, or to no workload.
type workloads []Workload

// owner returns the workload that a label belongs to, or nil.
func (all workloads) owner(label string) Workload {
	for _, w := range all {
		if w.Owns(label) {
			return w
		}
	}
	return nil
}

// notify calls do with the workload that a label belongs to, if there is one.
func (all workloads) notify(label string, do func(Workload)) {
	if w := all.owner(label); w != nil {
		do(w)
	}
}
