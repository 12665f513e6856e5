package cluster

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/downing"
)

// A calm is for how long the members and who is unreachable have not changed.
type calm struct {
	since time.Time
	marks map[ID]mark
}

// A mark is what a strategy's decision depends on.
type mark struct{ joining, unreachable bool }

// note compares a table with the one before. Members that leave and those that are
// removed do not disturb the calm.
func (c *calm) note(t table, now time.Time) {
	unreachable := t.unreachable()
	marks := map[ID]mark{}
	for id, m := range t.members {
		if m.Status < Down {
			marks[id] = mark{joining: m.Status == Joining, unreachable: len(unreachable[id]) > 0}
		}
	}
	for id, k := range marks {
		if before, known := c.marks[id]; !known || before != k {
			c.since = now
		}
	}
	c.marks = marks
}

// judge lets the downing strategy decide, if somebody is unreachable and this node is the
// one to act on its side.
func (m *machine) judge() {
	if len(m.table.unreachable()) == 0 {
		return
	}
	s := m.situation()
	if !m.actsForItsSide(s) {
		return
	}
	d := m.set.downing.Decide(s)
	if len(d.Down) == 0 {
		return
	}
	change := m.change()
	for _, each := range d.Down {
		id := ID{Address: each.Address, Incarnation: each.Incarnation}
		m.do(note{warn: true, text: "downing", address: each.Address, reason: d.Reason})
		m.giveUp(change, id)
	}
	m.decide(change)
}

// giveUp puts into a change that a member is down.
func (m *machine) giveUp(change table, id ID) {
	if each, known := m.table.members[id]; known && each.Status < Down {
		each.Status = Down
		change.members[id] = each
	}
}

// situation is what the strategy decides about.
func (m *machine) situation() downing.Situation {
	s := downing.Situation{Stable: m.now.Sub(m.calm.since)}
	unreachable, observers := m.table.unreachable(), m.table.observers()
	for _, id := range m.table.ids() {
		each := m.table.members[id]
		if each.Status >= Down {
			continue
		}
		x := downing.Member{
			Address:     id.Address,
			Incarnation: id.Incarnation,
			UpNumber:    each.UpNumber,
			Roles:       each.Roles,
			Joining:     each.Status == Joining,
			Leaving:     each.Status == Leaving,
			Self:        id == m.self,
		}
		for _, observer := range unreachable[id] {
			x.UnreachableBy = append(x.UnreachableBy, observer.Address)
		}
		for _, observer := range observers[id] {
			x.ObservedBy = append(x.ObservedBy, observer.Address)
		}
		s.Members = append(s.Members, x)
	}
	return s
}

// actsForItsSide reports whether this node is the first candidate of its side.
func (m *machine) actsForItsSide(s downing.Situation) bool {
	here, _ := s.Split()
	decider, ok := first(m.table.candidates(m.set.election), func(each Member) bool {
		return slices.ContainsFunc(here, func(x downing.Member) bool {
			return x.Address == each.Address && x.Incarnation == each.Incarnation
		})
	})
	return ok && decider.ID() == m.self
}
