package membership

import (
	"bytes"
	"slices"
)

// unreachable returns who is unreachable, and in whose opinion, sorted. The opinion of a
// member that is exiting or down counts for nothing.
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

// complainants returns those who do not hear from somebody, sorted. Mostly there are none,
// which must cost little, as it is asked at each tick.
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

// Witnesses are the members that are known to have had exactly the members of one sum.
// Each node collects them for the members that it has itself, and begins anew when those
// change; heartbeats carry them to the neighbours, from where they go on, so they reach
// everybody over any connected graph of observers.
//
// Why that is enough for a leader to act: who has ever had some members knows at least
// these, in at least these statuses, whatever it has heard since; for states only grow.
// So it does no harm that a witness may have gone on, or that the word of it comes late
// or from a third: it says something about the past, and that stays true.
type seenBy struct {
	sum  uint64
	ids  []ID   // the members of that sum, sorted; of equal sums they are equal
	bits []byte // which of them, eight to a byte
}

// newSeenBy begins with the node itself.
func newSeenBy(sum uint64, ids []ID, self ID) seenBy {
	w := seenBy{sum: sum, ids: ids, bits: make([]byte, (len(ids)+7)/8)}
	w.add(self)
	return w
}

// add adds one, and reports whether that is news.
func (w *seenBy) add(id ID) bool {
	i, member := slices.BinarySearchFunc(w.ids, id, ID.Compare)
	if !member || w.bits[i/8]&(1<<(i%8)) != 0 {
		return false
	}
	w.bits[i/8] |= 1 << (i % 8)
	return true
}

// learn adds those that another node knows, and itself, if it speaks of the same members.
// It reports whether there was news.
func (w *seenBy) learn(from ID, sum uint64, bits []byte) bool {
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

// has reports whether a member is one.
func (w *seenBy) has(id ID) bool {
	i, member := slices.BinarySearchFunc(w.ids, id, ID.Compare)
	return member && w.bits[i/8]&(1<<(i%8)) != 0
}

// converged reports whether every member that counts is known to have exactly the members
// of the table, and all are reachable but for those that are exiting or down. Only then may
// a leader promote or remove, so that all members know of each other before any of them
// acts.
func (t table) converged(w seenBy, unreachable map[ID][]ID) bool {
	for subject := range unreachable {
		if t.members[subject].Status < Exiting {
			return false
		}
	}
	return !slices.ContainsFunc(t.voters(), func(id ID) bool { return !w.has(id) })
}

// voters are the members that must agree: those that are or were up; before there are
// any, those that join, and may be leaving again.
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
