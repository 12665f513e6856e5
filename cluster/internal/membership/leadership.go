package membership

import (
	"fmt"
	"maps"
	"slices"
)

type leadership struct{ *core }

// lead acts if this node is the leader and all members agree: it promotes joining members to
// up. It removes members that are down, and exiting members that are unreachable.
func (l *leadership) lead() {
	unreachable := l.table.unreachable()
	candidates := l.table.candidates(l.set.Leader)
	leader, ok := first(candidates, func(Member) bool { return true })
	if !ok || leader.ID() != l.self || !l.table.converged(l.seenBy, unreachable) {
		return
	}
	change := l.change()
	l.promote(change)
	l.remove(change, unreachable)
	l.decide(change)
	l.welcome(change.ids())
}

func (l *leadership) promote(change table) {
	if len(l.set.lacks(l.table)) > 0 {
		return
	}
	// Above those of removed members, too. The numbers are the ages by which members are elected,
	// and a member must not be older than one that was up before it.
	number := l.table.youngest()
	for _, id := range l.table.ids() {
		if each := l.table.members[id]; each.Status == Joining {
			number++
			each.Status, each.UpNumber = Up, number
			change.members[id] = each
		}
	}
}

// welcome sends the whole table to members that have just become up. They must know all members
// that are up before they act themselves.
func (l *leadership) welcome(ids []ID) {
	l.acting = l.acting || slices.Contains(ids, l.self)
	if len(ids) == 0 {
		return
	}
	whole := tablePush{From: l.self, Whole: true, Table: l.table.pack()}
	for _, id := range ids {
		if id != l.self {
			l.tell(id, whole)
		}
	}
}

// remove adds to a change that unreachable members are removed if they are down or exiting. An
// exiting member runs nothing any more that another member could need to start.
func (l *leadership) remove(change table, unreachable map[ID][]ID) {
	for id := range unreachable {
		if status := l.table.members[id].Status; status >= Exiting {
			change.tombstones[id] = tombstone{Clean: status == Exiting, At: l.unix()}
		}
	}
}

// lacks describes, for users, which members must still join before the first one is up. It is
// empty once a member has been up.
func (r Settings) lacks(t table) []string {
	if t.youngest() > 0 {
		return nil
	}
	var lacks []string
	if n := t.counting(""); n < r.MinMembers {
		lacks = append(lacks, fmt.Sprintf("%d of %d members", n, r.MinMembers))
	}
	for _, role := range slices.Sorted(maps.Keys(r.MinMembersOf)) {
		if n := t.counting(role); n < r.MinMembersOf[role] {
			lacks = append(lacks, fmt.Sprintf("%d of %d members with the role %q", n, r.MinMembersOf[role], role))
		}
	}
	return lacks
}

func (t table) counting(role string) int {
	n := 0
	for _, m := range t.members {
		if m.Status <= Up && m.HasRole(role) {
			n++
		}
	}
	return n
}
