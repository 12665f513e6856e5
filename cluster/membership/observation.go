package membership

import (
	"maps"
	"slices"
)

// watchSubjects observes the neighbours, and whom this node doubts.
func (m *Machine) watchSubjects() {
	ids := m.near.observed
	for _, id := range slices.SortedFunc(maps.Keys(m.doubted), ID.Compare) {
		switch _, is := m.table.members[id]; {
		case !is:
			delete(m.doubted, id)
		case !slices.Contains(ids, id):
			ids = append(slices.Clip(ids), id)
		}
	}
	m.monitor.watch(ids, m.now)
}

// audience returns to whom heartbeats go: the observers, and those who have asked for it.
func (m *Machine) audience() []ID {
	ids := m.near.observers
	for _, id := range slices.SortedFunc(maps.Keys(m.guests), ID.Compare) {
		if _, is := m.table.members[id]; is && !slices.Contains(ids, id) {
			ids = append(slices.Clip(ids), id)
		}
	}
	return ids
}

// beObserved answers a member that misses our heartbeats: it gets one at once, and then
// each. Either it has our table soon, or we have its, and it gets them anyway or asks no
// more. So it is never taken for a silence that two tables differ.
func (m *Machine) beObserved(by ID) {
	m.guests[by] = m.now.Add(guestFor)
	msg := m.heartbeat()
	msg.Stream = true
	m.tell(by, msg)
}

// report writes into our row whom we cannot reach, and asks who is late for a sign.
func (m *Machine) report() {
	silent := m.monitor.look(m.now)
	for _, id := range m.monitor.overdue(m.now) {
		m.tell(id, observe{})
	}
	m.trust(silent)
	if r := m.table.rows[m.self]; !slices.Equal(silent, r.Unreachable) {
		r.Unreachable = silent
		m.writeRow(r)
	}
}

// trust ends the doubts about those that have been heard again.
func (m *Machine) trust(silent []ID) {
	before := len(m.doubted)
	maps.DeleteFunc(m.doubted, func(id ID, _ bool) bool { return !slices.Contains(silent, id) })
	if len(m.doubted) < before {
		m.watchSubjects()
	}
}

// refusedFor: nobody listens at an address, or another incarnation does. The member there
// is unreachable from now on, until it is heard.
func (m *Machine) refusedFor(ev DialFailed) {
	if !ev.Refused && ev.Lives == 0 || m.set.Detector.KeepRefused {
		return
	}
	for _, id := range m.table.at(ev.Address) {
		if id != m.self && id.Incarnation != ev.Lives {
			m.doubted[id] = true
			m.watchSubjects()
			m.monitor.refuse(id, m.now)
		}
	}
	m.report()
}
