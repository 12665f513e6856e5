package cluster

import (
	"maps"
	"time"
)

// publish shows how things stand.
func (m *machine) publish() {
	m.version++
	m.do(publish{m.view()})
}

func (m *machine) view() View {
	v := View{Version: m.version, Self: m.set.self, tombs: maps.Clone(m.table.tombs)}
	switch m.phase {
	case idle, seeking:
		v.waiting = m.whyWaiting(v)
		v.absent = m.questions.absent
		return v
	case downed:
		v.Self.Status = Down
		return v
	case parting, ended:
		v.Self.Status = Removed
		return v
	case member:
	}
	for _, id := range m.table.ids() {
		each := m.table.members[id]
		if id == m.self && each.Status == Up && !m.acting {
			each.Status = Joining
		}
		if id == m.self {
			v.Self = each
		}
		v.Members = append(v.Members, each)
	}
	v.unreachable = m.table.unreachable()
	v.Converged = m.converged
	v.order = m.set.election.order(v.Members)
	v.gone = m.unclean()
	v.waiting = m.whyWaiting(v)
	return v
}

// unclean returns who was removed without a sign that it has stopped, and since when.
func (m *machine) unclean() map[ID]time.Time {
	gone := map[ID]time.Time{}
	for id, dead := range m.table.tombs {
		if !dead.Clean {
			gone[id] = m.removed[id]
		}
	}
	return gone
}
