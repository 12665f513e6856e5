package handover

import (
	"cmp"
	"slices"
)

// A simTable is what one node knows of the members: the latest incarnation of each address, which
// proves that earlier ones have ended. Entries move forward only.
type simTable struct {
	cluster uint32 // 0 before one has been joined
	entries [simMax]simEntry
}

type simEntry struct {
	incarnation uint32 // 0 when nobody was ever there
	up          uint16 // number, in the order of becoming up
	status      simStatus
	clean       bool // removed with a sign that nothing runs there
}

type simStatus uint8

const (
	simJoining simStatus = iota
	simUp
	simLeaving
	simDown
	simRemoved
)

func (e simEntry) merge(o simEntry) simEntry {
	switch {
	case e.incarnation > o.incarnation:
		return e
	case e.incarnation < o.incarnation:
		return o
	}
	return simEntry{e.incarnation, max(e.up, o.up), max(e.status, o.status), e.clean || o.clean}
}

// member reports whether e is of one that has not been downed or removed.
func (e simEntry) member() bool { return e.incarnation > 0 && e.status < simDown }

func (t *simTable) merge(o simTable) {
	for i := range t.entries {
		t.entries[i] = t.entries[i].merge(o.entries[i])
	}
}

// order returns all addresses where somebody is, in the order of election.
func (t *simTable) order(byAge bool) []int {
	all := make([]int, 0, simMax)
	for i, e := range t.entries {
		if e.incarnation > 0 {
			all = append(all, i)
		}
	}
	if byAge {
		slices.SortFunc(all, func(a, b int) int { return cmp.Or(cmp.Compare(t.entries[a].up, t.entries[b].up), cmp.Compare(a, b)) })
	}
	return all
}

// votes counts the nodes that were ever up and have not left in order, and those among them that
// are heard. The first one decides ties.
func (t *simTable) votes(heard func(int) bool) (all, mine int) {
	for i, e := range t.entries {
		if e.up == 0 || e.clean {
			continue
		}
		weight := 2
		if all == 0 {
			weight = 3
		}
		all += weight
		if heard(i) && e.status < simDown {
			mine += weight
		}
	}
	return all, mine
}
