package cluster

import "slices"

// lead does what the leader does for the whole cluster, if this node is the leader and
// the members agree: it makes those up who join, and removes those who are down or have
// ended on their way out.
func (m *machine) lead() {
	unreachable := m.table.unreachable()
	candidates := m.table.candidates(m.set.election)
	leader, ok := first(candidates, func(Member) bool { return true })
	if !ok || leader.ID() != m.self || !m.table.converged(m.witnesses, unreachable) {
		return
	}
	m.promote()
	m.bury(unreachable)
}

// promote makes the members up that are joining, once there are enough. Each gets the
// whole table, as it must know everybody who is up before it acts itself.
func (m *machine) promote() {
	if m.table.count(Joining)+m.table.count(Up) < m.set.minMembers {
		return
	}
	change := m.change()
	number := m.table.youngest()
	for _, id := range m.table.ids() {
		if each := m.table.members[id]; each.Status == Joining {
			number++
			each.Status, each.UpNumber = Up, number
			change.members[id] = each
		}
	}
	m.decide(change)
	for id := range change.members {
		if id == m.self {
			m.acting = true
		}
	}
	if len(change.members) > 0 {
		m.pushWhole(slices.DeleteFunc(change.ids(), func(id ID) bool { return id == m.self }))
	}
}

func (m *machine) pushWhole(to []ID) {
	whole := tablePush{From: m.self, Whole: true, Table: m.table.pack()}
	for _, id := range to {
		m.tell(id, whole)
	}
}

// bury removes those who are down, or exiting, and do not answer. Of the latter nothing
// runs any more that somebody else could want to run.
func (m *machine) bury(unreachable map[ID][]ID) {
	change := m.change()
	for id := range unreachable {
		if status := m.table.members[id].Status; status >= Exiting {
			change.tombs[id] = tomb{Clean: status == Exiting, At: m.unix()}
		}
	}
	m.decide(change)
}
