package cluster

import (
	"maps"
	"slices"
)

// leave begins the orderly end: others take over what this node runs.
func (m *machine) leave() {
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
		m.do(drain{})
	case downed, parting, ended:
	}
}

// down gives up the member of that name, by order of an operator.
func (m *machine) down(name string) {
	if m.phase != member {
		return
	}
	change := m.change()
	for _, id := range m.table.ids() {
		if m.table.members[id].Name == name {
			m.do(note{warn: true, text: "downing", address: id.Address, reason: "asked to"})
			m.giveUp(change, id)
		}
	}
	m.decide(change)
}

// fall is the end of this incarnation that others have decided: it stops what it runs.
func (m *machine) fall(reason string, instead []string) {
	if m.phase != member {
		return
	}
	m.remember(instead)
	m.phase, m.rejoin = downed, m.set.rejoin && !m.leaving
	m.do(note{warn: true, text: "this node is down", address: m.self.Address, reason: reason})
	m.publish()
	m.do(drain{})
}

// remember notes where other members live, to ask them later.
func (m *machine) remember(addresses []string) {
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
func (m *machine) drained() {
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
		m.do(stop{})
	}
}

// stopped: no actor runs here any more.
func (m *machine) stopped() {
	if m.phase == member && m.table.status(m.self) == Exiting {
		m.part()
	}
}

// part is the end of membership: this node is gone, and tells everybody.
func (m *machine) part() {
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
func (m *machine) endWhenDue() {
	unreachable := m.table.unreachable()
	waits := slices.ContainsFunc(m.others(), func(id ID) bool {
		return len(unreachable[id]) == 0 && m.table.members[id].Status < Down && !m.acked[id]
	})
	if !waits || !m.now.Before(m.partBy) {
		m.finish(nil)
	}
}

func (m *machine) finish(err error) {
	m.phase = ended
	m.do(end{rejoin: m.rejoin, known: slices.Sorted(maps.Keys(m.known)), err: err})
}

// buryClean removes a member that has said itself that nothing of it runs any more.
func (m *machine) buryClean(id ID) {
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
func (m *machine) toldDown(from ID, msg youAreDown) {
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
