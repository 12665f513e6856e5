package plan

import "time"

// A workload is what a coordinator keeps running on the nodes: it decides which actors run where.
// The nodes tell a workload what happens to its labels. Each of these calls may be repeated, and
// may concern a request that the workload no longer knows.
type workload interface {
	// owns reports whether the label belongs to the workload. A label still belongs to it while its
	// actor is being removed.
	owns(label string) bool
	// started: the actor of that request runs.
	started(label string, id RequestID, on nodeID)
	// failed: the actor could not be started, and does not run.
	failed(label string, id RequestID, on nodeID, why ending)
	// stopped: the actor has terminated as requested, or does not run there.
	stopped(label string, id RequestID, on nodeID)
	// refused: the agent does not stop the actor, because it has a later generation.
	refused(label string, id RequestID, on nodeID, why string)
	// ended: the actor has terminated without a request.
	ended(label string, id RequestID, on nodeID, why ending)
	// found: an agent reports an actor that no request of this coordinator has started. It is an
	// orphan until the workload starts it again by the same request, or stops it.
	found(label string, on nodeID, actor Reported)
	// lost: that incarnation of a node is no longer a member, and none of its actors runs. The
	// nodes have forgotten its places.
	lost(on nodeID)
	// leaving reports whether the workload is about to move an actor away from a node, but has not
	// requested its stop yet.
	leaving(on nodeID) bool
	// notice remembers which actors reconcile has to review: those of the touched labels, and, if
	// moreRoom is set, all that may wait for a node.
	notice(touched map[string]bool, moreRoom bool)
	// reconcile places, starts, stops and moves actors as a change requires. It is called last in
	// each step.
	reconcile()
	// next returns when a step is due.
	next() (time.Time, bool)
}

// workloads are those of one coordinator. A label belongs to one of them, or to no workload.
type workloads []workload

// owner returns the workload that a label belongs to, or nil.
func (all workloads) owner(label string) workload {
	for _, w := range all {
		if w.owns(label) {
			return w
		}
	}
	return nil
}

// notify calls do with the workload that a label belongs to, if there is one.
func (all workloads) notify(label string, do func(workload)) {
	if w := all.owner(label); w != nil {
		do(w)
	}
}
