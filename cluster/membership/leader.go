package membership

import "slices"

// lead does what the leader does for the whole cluster, if this node is the leader and
// the members agree: it makes those up who join, and removes those who are down or have
// ended on their way out.
func (m *Machine) lead() {
	unreachable := m.table.unreachable()
	candidates := m.table.candidates(m.set.Leader)
	leader, ok := first(candidates, func(Member) bool { return true })
	if !ok || leader.ID() != m.self || !m.table.converged(m.witnesses, unreachable) {
		return
	}
	change := m.change()
	m.promote(change)
	m.bury(change, unreachable)
	m.decide(change)
	m.welcome(change.ids())
}

// promote puts into a change that the members are up that are joining, once there are
// enough.
func (m *Machine) promote(change table) {
	if len(m.set.lacks(m.table)) > 0 {
		return
	}
	number := m.table.youngest()
	for _, id := range m.table.ids() {
		if each := m.table.members[id]; each.Status == Joining {
			number++
			each.Status, each.UpNumber = Up, number
			change.members[id] = each
		}
	}
}

// welcome gives the whole table to members that have just become up, as they must know
// everybody who is up before they act themselves.
func (m *Machine) welcome(ids []ID) {
	m.acting = m.acting || slices.Contains(ids, m.self)
	if len(ids) == 0 {
		return
	}
	whole := tablePush{From: m.self, Whole: true, Table: m.table.pack()}
	for _, id := range ids {
		if id != m.self {
			m.tell(id, whole)
		}
	}
}

// bury puts into a change that those are removed who are down, or exiting, and do not
// answer. Of the latter nothing runs any more that somebody else could want to run.
func (m *Machine) bury(change table, unreachable map[ID][]ID) {
	for id := range unreachable {
		if status := m.table.members[id].Status; status >= Exiting {
			change.tombs[id] = tomb{Clean: status == Exiting, At: m.unix()}
		}
	}
}
