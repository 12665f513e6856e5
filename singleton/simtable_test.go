package singleton

import (
	"cmp"
	"maps"
	"slices"
)

// A simTable is what one node knows of the members. Entries move forward only.
type simTable map[PeerID]simEntry

type simEntry struct {
	status simStatus
	up     int  // number, in the order of becoming up
	clean  bool // removed with a sign that nothing runs there
}

type simStatus int

const (
	simJoining simStatus = iota
	simUp
	simLeaving
	simDown
	simRemoved
)

func (t simTable) merge(id PeerID, e simEntry) {
	old := t[id]
	t[id] = simEntry{status: max(old.status, e.status), up: max(old.up, e.up), clean: old.clean || e.clean}
}

func (t simTable) clone() simTable { return maps.Clone(t) }

func (t simTable) equal(o simTable) bool { return maps.Equal(t, o) }

// order returns all incarnations in the order of election.
func (t simTable) order(byAge bool) []PeerID {
	return slices.SortedFunc(maps.Keys(t), func(a, b PeerID) int {
		byAddress := cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Incarnation, b.Incarnation))
		if byAge {
			return cmp.Or(cmp.Compare(t[a].up, t[b].up), byAddress)
		}
		return byAddress
	})
}

// leader returns the node that acts for the cluster: of the majority's side, one that is
// up or on its way out.
func (s *sim) leader() *simNode {
	for _, n := range s.nodes {
		if st := n.table[n.id].status; n.runs && !n.cut && !n.clean && (st == simUp || st == simLeaving) {
			return n
		}
	}
	return nil
}

// founded reports whether there ever was a cluster.
func (s *sim) founded() bool {
	return slices.ContainsFunc(s.nodes, func(n *simNode) bool { return n.table[n.id].up > 0 })
}

// lead does what the leader of a cluster does: it downs who has been silent for long
// enough, and when all the others know the same, lets members in and out.
func (s *sim) lead() {
	n := s.leader()
	if n == nil {
		return
	}
	for _, id := range n.table.order(true) {
		e, other := n.table[id], s.at(id.Address)
		crashed := !other.runs || other.id != id
		cut := other.cut && s.now.Sub(s.cutOff) >= simDetection
		if e.status < simDown && (cut || crashed && s.chance(0.05)) { // 0.05 each 50 ms: a second
			n.set(id, simEntry{status: simDown})
		}
	}
	if s.converged(n) {
		s.settle(n)
	}
}

func (s *sim) converged(leader *simNode) bool {
	for id, e := range leader.table {
		other := s.at(id.Address)
		if e.status < simDown && (other.id != id || !other.runs || other.cut || !other.table.equal(leader.table)) {
			return false
		}
	}
	return true
}

func (s *sim) settle(leader *simNode) {
	ups := 0
	for _, e := range leader.table {
		ups = max(ups, e.up)
	}
	for _, id := range leader.table.order(false) {
		switch e := leader.table[id]; e.status {
		case simJoining:
			ups++
			leader.set(id, simEntry{status: simUp, up: ups})
		case simDown:
			leader.set(id, simEntry{status: simRemoved})
		case simUp, simLeaving, simRemoved:
		}
	}
}
