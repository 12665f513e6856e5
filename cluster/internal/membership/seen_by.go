package membership

import (
	"bytes"
	"slices"
)

// unreachable returns the unreachable members, each with the members that do not hear from it,
// sorted. The opinion of an exiting or down member does not count.
func (t table) unreachable() map[ID][]ID {
	by := map[ID][]ID{}
	for _, observer := range t.complainants() {
		for _, subject := range t.rows[observer].Unreachable {
			if _, known := t.members[subject]; known {
				by[subject] = append(by[subject], observer)
			}
		}
	}
	return by
}

// complainants returns the members that do not hear from another member, sorted. It is called
// at each tick, and usually returns nothing, so that case must be cheap.
func (t table) complainants() []ID {
	var ids []ID
	for id, r := range t.rows {
		if len(r.Unreachable) > 0 && t.members[id].Status > 0 && t.members[id].Status < Exiting {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, ID.Compare)
	return ids
}

// A seenBy holds the witnesses of one sum: the members that are known to have had exactly the
// members of that sum. Each node collects witnesses for its own members, and begins anew when
// those change. Heartbeats carry the witnesses to the neighbours, which pass them on. They
// reach all members over any connected graph of observers.
//
// This is enough for a leader to act. A node that has ever had some members knows at least
// these members, in at least these statuses, because states only grow. A witness may have
// learned more since, and the word of it may arrive late or through a third node. That does no
// harm, because it is a statement about the past and stays true.
type seenBy struct {
	sum  uint64
	ids  []ID   // the members of that sum, sorted; equal sums have equal members
	bits []byte // which of them are witnesses, eight to a byte
}

func newSeenBy(sum uint64, ids []ID, self ID) seenBy {
	w := seenBy{sum: sum, ids: ids, bits: make([]byte, (len(ids)+7)/8)}
	w.add(self)
	return w
}

func (w *seenBy) add(id ID) bool {
	i, member := slices.BinarySearchFunc(w.ids, id, ID.Compare)
	if !member || w.bits[i/8]&(1<<(i%8)) != 0 {
		return false
	}
	w.bits[i/8] |= 1 << (i % 8)
	return true
}

// learn adds another node and its witnesses, if that node has the same sum. It reports whether
// there was a new one.
func (w *seenBy) learn(from ID, sum uint64, bits []byte) bool {
	// Bits are indexes into the sorted members, so they mean nothing for another set of members.
	if sum != w.sum || len(bits) != len(w.bits) {
		return false
	}
	before := bytes.Clone(w.bits)
	w.add(from)
	for i, b := range bits {
		w.bits[i] |= b
	}
	return !bytes.Equal(before, w.bits)
}

func (w *seenBy) has(id ID) bool {
	i, member := slices.BinarySearchFunc(w.ids, id, ID.Compare)
	return member && w.bits[i/8]&(1<<(i%8)) != 0
}

// converged reports whether every voter is known to have exactly the members of the table, and
// all members are reachable except exiting and down ones. Only then may a leader promote or
// remove, so that all members know each other before any of them acts.
func (t table) converged(w seenBy, unreachable map[ID][]ID) bool {
	for subject := range unreachable {
		if t.members[subject].Status < Exiting {
			return false
		}
	}
	return !slices.ContainsFunc(t.voters(), func(id ID) bool { return !w.has(id) })
}

// voters returns the members that must agree: those that are or were up. Before any member was
// up, these are the joining members, including those that are leaving again.
func (t table) voters() []ID {
	var voters, joining []ID
	for _, id := range t.ids() {
		switch m := t.members[id]; {
		case m.Status >= Exiting:
		case m.UpNumber > 0:
			voters = append(voters, id)
		default:
			joining = append(joining, id)
		}
	}
	if len(voters) == 0 {
		return joining
	}
	return voters
}
