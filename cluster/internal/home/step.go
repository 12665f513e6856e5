package home

import (
	"maps"
	"slices"
	"time"
)

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
