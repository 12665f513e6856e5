package membership

import "slices"

// A leadership is what the leader does for the whole cluster.
type leadership struct{ *core }

// lead does what the leader does for the whole cluster, if this node is the leader and all
// members agree: it promotes joining members to up, and removes members that are down, or
// exiting and silent.
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

// promote puts into a change that the members are up that are joining, once there are
// enough.
func (l *leadership) promote(change table) {
	if len(l.set.lacks(l.table)) > 0 {
		return
	}
	number := l.table.youngest()
	for _, id := range l.table.ids() {
		if each := l.table.members[id]; each.Status == Joining {
			number++
			each.Status, each.UpNumber = Up, number
			change.members[id] = each
		}
	}
}

// welcome gives the whole table to members that have just become up, as they must know
// everybody who is up before they act themselves.
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

// remove puts into a change that those are removed who are down, or exiting, and do not
// answer. Of the latter nothing runs any more that somebody else could want to run.
func (l *leadership) remove(change table, unreachable map[ID][]ID) {
	for id := range unreachable {
		if status := l.table.members[id].Status; status >= Exiting {
			change.tombstones[id] = tombstone{Clean: status == Exiting, At: l.unix()}
		}
	}
}
