package membership

import (
	"maps"
	"slices"
)

// leave begins the orderly end: others take over what this node runs.
func (m *Machine) leave() {
	if m.leaving {
		return
	}
	m.leaving, m.rejoin = true, false
	switch m.phase {
	case idle, seeking:
		m.finish(nil)
	case member:
		change := m.change()
		self := m.table.members[m.self]
		self.Status = max(self.Status, Leaving)
		change.members[m.self] = self
		m.decide(change)
		m.settle() // all know that it leaves before it hands over
		m.do(Drain{})
	case downed, parting, ended:
	}
}

// down gives up the member of that name, by order of an operator.
func (m *Machine) down(name string) {
	if m.phase != member {
		return
	}
	change := m.change()
	for _, id := range m.table.ids() {
		if m.table.members[id].Name == name {
			m.do(Note{Warn: true, Text: "downing", Address: id.Address, Reason: "asked to"})
			m.giveUp(change, id)
		}
	}
	m.decide(change)
}

// fall is the end of this incarnation that others have decided: it stops what it runs.
func (m *Machine) fall(reason string, instead []string) {
	if m.phase != member {
		return
	}
	m.remember(instead)
	m.phase, m.rejoin = downed, m.set.Rejoin && !m.leaving
	m.do(Note{Warn: true, Text: "this node is down", Address: m.self.Address, Reason: reason})
	m.publish()
	m.do(Drain{})
}

// remember notes where other members live, to ask them later.
func (m *Machine) remember(addresses []string) {
	for _, id := range m.others() {
		m.known[id.Address] = true
	}
	for _, address := range addresses {
		m.known[address] = true
	}
	delete(m.known, m.self.Address)
}

// drained: no singleton runs here any more. A node that has been given up is gone; one
// that leaves makes it known, and stops its actors while it is still a member, so that
// others hear what they say in the end.
func (m *Machine) drained() {
	switch {
	case m.phase == downed:
		m.part()
	case m.phase == member && m.table.status(m.self) == Leaving:
		change := m.change()
		self := m.table.members[m.self]
		self.Status = Exiting
		change.members[m.self] = self
		m.decide(change)
		m.settle()
		m.do(Stop{})
	}
}

// stopped: no actor runs here any more.
func (m *Machine) stopped() {
	if m.phase == member && m.table.status(m.self) == Exiting {
		m.part()
	}
}

// part is the end of membership: this node is gone, and tells everybody.
func (m *Machine) part() {
	m.remember(nil)
	m.phase = parting
	m.partBy = m.now.Add(partPatience)
	for _, id := range m.others() {
		m.tell(id, gone{})
	}
	m.buryClean(m.self)
	m.publish()
	m.endWhenDue()
}

// endWhenDue ends this incarnation as soon as all who can be reached know that it is gone,
// or after a while.
func (m *Machine) endWhenDue() {
	unreachable := m.table.unreachable()
	waits := slices.ContainsFunc(m.others(), func(id ID) bool {
		return len(unreachable[id]) == 0 && m.table.members[id].Status < Down && !m.acked[id]
	})
	if !waits || !m.now.Before(m.partBy) {
		m.finish(nil)
	}
}

func (m *Machine) finish(err error) {
	m.phase = ended
	m.do(End{Rejoin: m.rejoin, Known: slices.Sorted(maps.Keys(m.known)), Err: err})
}

// buryClean removes a member that has said itself that nothing of it runs any more.
func (m *Machine) buryClean(id ID) {
	if id != m.self {
		m.tell(id, goneSeen{})
	}
	if (m.phase != member && id != m.self) || m.table.status(id) == 0 {
		return
	}
	change := m.change()
	change.tombs[id] = tomb{Clean: true, At: m.unix()}
	m.decide(change)
}

// toldDown: somebody's cluster has given this node up. If ours has given up that one as
// well, the two have parted, and the smaller part dissolves.
func (m *Machine) toldDown(from ID, msg youAreDown) {
	theirs := msg.Table.table()
	if theirs.cluster != m.table.cluster {
		return
	}
	if status := theirs.status(m.self); status != 0 && status < Down {
		return
	}
	if m.table.status(from) < Down {
		m.fall("removed by the cluster", homes(theirs))
		return
	}
	r := rival{cluster: theirs.cluster, size: theirs.count(Up), homes: homes(theirs)}
	m.compare(from, r, youAreDown{Table: m.table.pack()})
}
