package membership

import (
	"fmt"
	"slices"
	"time"
)

// checkStatuses checks that, within what one process knows, no member ever goes back to a lower
// status.
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

// checkLeaders checks that nodes that see each other up, and see all members agreed, have one
// leader, and that no two members have the same up-number.
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

// checkOneCluster checks that all processes are up in one cluster, and know the same.
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

// A promise must come true some time after a healthy cluster has lost some of its members and
// kept the majority, if nothing else happens in the meantime.
type promise struct {
	due      time.Time
	majority []int // of the nodes
	was      map[int]ID
}

const (
	wellFor = 15 * time.Second // how long all must have been healthy for a promise
	settled = 12 * time.Second // when a promise is due: detection, stable-after, and some reserve
)

// disturb records a change for the better or the worse.
func (w *world) disturb() { w.disturbed, w.promise = w.now, promise{} }

// promiseAfter applies a fault. If the cluster was healthy and a majority is left, it promises
// that the majority continues unchanged.
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

// majority returns more than half of the nodes that run and are connected to each other, or nil
// if there are not that many.
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

// checkPromise checks that no majority is lost that no member has taken down. Its members know
// exactly each other and have one leader, and no other node believes that it is up.
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

// checkApart checks two nodes that believe that they are up and agree with all others: one of
// them knows the other, if the strategy promises that. A node that was paused and cannot know
// yet is exempt.
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

// content reports whether a node sees no trouble, and has been awake for long enough to see it.
func (n *simNode) content() bool {
	return n.machine != nil && n.machine.phase == phaseMember && n.world.now.Sub(n.pausedTo) >= 2*time.Second && n.shown.Self.Status == Up && n.shown.Converged
}

func (n *simNode) knows(o *simNode) bool {
	_, known := n.shown.find(o.machine.self)
	return known
}
