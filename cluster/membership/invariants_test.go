package membership

import (
	"fmt"
	"slices"
	"time"
)

// checkStatuses: within what one process knows, no member ever goes back.
func (n *simNode) checkStatuses(m *Machine) {
	if m.version == n.version {
		return
	}
	n.version = m.version
	if m.phase != phaseMember {
		clear(n.statuses)
		return
	}
	for id, before := range n.statuses {
		if now := m.table.status(id); now < before {
			n.world.fail("n%d sees %v go from %v back to %v", n.index+1, id, before, now)
		}
	}
	for id := range m.table.members {
		n.statuses[id] = m.table.status(id)
	}
	for id := range m.table.tombstones {
		n.statuses[id] = Removed
	}
}

// checkLeaders: nodes that see each other up and all members agreed have one leader, and
// no two members have one number.
func (w *world) checkLeaders() {
	leaders := map[string]ID{}
	for _, n := range w.nodes {
		if n.machine == nil || n.machine.phase != phaseMember {
			continue
		}
		v := n.shown
		leader, ok := v.Leader()
		if !v.Converged || v.Self.Status != Up || !ok {
			continue
		}
		key := fmt.Sprint(n.machine.table.cluster, n.machine.sums.members)
		if other, known := leaders[key]; known && other != leader.ID() {
			w.fail("two leaders, %v and %v, in one view", other, leader.ID())
		}
		leaders[key] = leader.ID()
		numbers := map[uint64]ID{}
		for _, m := range v.Members {
			if other, taken := numbers[m.UpNumber]; taken && m.UpNumber > 0 {
				w.fail("%v and %v have the number %d", other, m.ID(), m.UpNumber)
			}
			numbers[m.UpNumber] = m.ID()
		}
	}
}

// checkOneCluster: all processes are up in one cluster, and know the same.
func (w *world) checkOneCluster() {
	w.t.Helper()
	if trouble := w.notOneCluster(); trouble != "" {
		w.fail("%s", trouble)
	}
}

func (w *world) notOneCluster() string {
	first := w.nodes[0].machine
	for _, n := range w.nodes {
		m := n.machine
		switch {
		case m == nil || first == nil || m.phase != phaseMember:
			return fmt.Sprintf("n%d is no member", n.index+1)
		case m.table.cluster != first.table.cluster:
			return fmt.Sprintf("n%d is in another cluster than n1", n.index+1)
		case m.sums != first.sums:
			return fmt.Sprintf("n%d does not know what n1 knows:\n%+v\n%+v", n.index+1, m.table.pack(), first.table.pack())
		}
		v := n.shown
		if v.Self.Status != Up || len(v.Members) != len(w.nodes) || !v.Converged || len(v.Unreachable()) > 0 {
			return fmt.Sprintf("n%d sees %d members, is %v, converged: %v", n.index+1, len(v.Members), v.Self.Status, v.Converged)
		}
	}
	return ""
}

// A promise is what must have come true some time after a cluster that was well has lost
// some of its members and kept the majority, if nothing else happens meanwhile.
type promise struct {
	due      time.Time
	majority []int // of the nodes
	was      map[int]ID
}

const (
	wellFor = 15 * time.Second // how long all must have been well for a promise
	settled = 12 * time.Second // and when it is due: detection, stable-after, and to spare
)

// disturb says that something changes for the better or the worse.
func (w *world) disturb() { w.disturbed, w.promise = w.now, promise{} }

// promiseAfter lets a fault happen, and expects of a cluster that was well that the
// majority, if one is left, goes on as it was.
func (w *world) promiseAfter(f fault) {
	well := w.now.Sub(w.disturbed) >= wellFor && w.notOneCluster() == ""
	was := map[int]ID{}
	for _, n := range w.nodes {
		if n.machine != nil {
			was[n.index] = n.machine.self
		}
	}
	w.apply(f)
	if majority := w.majority(f); well && f.kind != left && len(majority) > 0 {
		w.promise = promise{due: w.now.Add(settled), majority: majority, was: was}
	}
}

// majority returns more than half of the nodes that run and are connected to each other,
// if there are as many.
func (w *world) majority(f fault) []int {
	sides := [2][]int{}
	for _, n := range w.nodes {
		switch {
		case n.machine == nil || f.kind != splitInTwo && n.index == f.node:
		case f.kind == splitInTwo && f.side[n.index]:
			sides[1] = append(sides[1], n.index)
		default:
			sides[0] = append(sides[0], n.index)
		}
	}
	for _, side := range sides {
		if 2*len(side) > len(w.nodes) {
			return side
		}
	}
	return nil
}

// checkPromise: no majority that nobody has taken down is lost; its members know exactly
// each other and have one leader, and nobody else believes to be up.
func (w *world) checkPromise() {
	p := w.promise
	if p.due.IsZero() || w.now.Before(p.due) {
		return
	}
	w.promise = promise{}
	w.kept++
	var leader ID
	for _, n := range w.nodes {
		inside, running := slices.Contains(p.majority, n.index), n.machine != nil && !w.now.Before(n.pausedTo)
		v := n.shown
		switch {
		case !inside && running && n.machine.phase == phaseMember && v.Self.Status == Up:
			w.fail("n%d believes to be up beside a majority", n.index+1)
		case !inside:
		case !running || n.machine.self != p.was[n.index] || v.Self.Status != Up:
			w.fail("n%d of the majority %v is lost", n.index+1, p.majority)
		case len(v.Members) != len(p.majority) || len(v.Unreachable()) > 0 || !v.Converged:
			w.fail("n%d of the majority %v sees %d members", n.index+1, p.majority, len(v.Members))
		default:
			l, _ := v.Leader()
			if leader.Address != "" && leader != l.ID() {
				w.fail("the majority %v has two leaders", p.majority)
			}
			leader = l.ID()
		}
	}
}

// checkApart: of two nodes that believe to be up, and to agree with all others, one knows
// the other, if the strategy promises that; unless one has slept and cannot know yet.
func (w *world) checkApart() {
	if !w.apart {
		return
	}
	for i, a := range w.nodes {
		for _, b := range w.nodes[:i] {
			if a.content() && b.content() && !a.knows(b) && !b.knows(a) {
				w.fail("n%d and n%d are in two clusters", b.index+1, a.index+1)
			}
		}
	}
}

// content reports whether a node sees no trouble, and has been awake for long enough to.
func (n *simNode) content() bool {
	return n.machine != nil && n.machine.phase == phaseMember && n.world.now.Sub(n.pausedTo) >= 2*time.Second && n.shown.Self.Status == Up && n.shown.Converged
}

func (n *simNode) knows(o *simNode) bool {
	_, known := n.shown.find(o.machine.self)
	return known
}
