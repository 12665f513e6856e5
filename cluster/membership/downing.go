package membership

import (
	"slices"

	"github.com/understudy-go/understudy/internal/guard"

	"github.com/understudy-go/understudy/cluster/downing"
)

// judge lets the downing strategy decide, if somebody is unreachable and this node is the
// one to act on its side.
func (m *Machine) judge() {
	m.calm.rest(m.now, m.set.Downing.Delay())
	if len(m.table.unreachable()) == 0 {
		return
	}
	s := m.situation()
	here, _ := s.Split()
	if !m.actsFor(here) {
		return
	}
	s.Lease = m.claimed(here)
	d := m.decision(s)
	if d.Ask.Lease != nil && s.Lease == downing.NotAsked {
		m.claimLease(here, d.Ask)
	}
	m.giveUpAll(d)
}

// decision asks the strategy. One that panics takes nobody down, and is asked again.
func (m *Machine) decision(s downing.Situation) (d downing.Decision) {
	if err := guard.Apart(func() { d = m.set.Downing.Decide(s) }); err != nil {
		m.do(Note{Warn: true, Text: "downing strategy failed; it decides nothing", Reason: guard.Text(err)})
		return downing.Decision{}
	}
	return d
}

// giveUpAll does what the strategy has decided.
func (m *Machine) giveUpAll(d downing.Decision) {
	change := m.change()
	for _, id := range idsOf(d.Down) {
		m.do(Note{Warn: true, Text: "downing", Address: id.Address, Reason: d.Reason})
		m.giveUp(change, id)
	}
	m.decide(change)
}

// giveUp puts into a change that a member is down.
func (m *Machine) giveUp(change table, id ID) {
	if each, known := m.table.members[id]; known && each.Status < Down {
		each.Status = Down
		change.members[id] = each
	}
}

// situation is what the strategy decides about. Who is exiting is as good as removed.
func (m *Machine) situation() downing.Situation {
	s := downing.Situation{Stable: m.now.Sub(m.calm.since)}
	s.Unstable, s.Spread = m.calm.troubled(m.now)
	unreachable, observers := m.table.unreachable(), m.table.observers()
	for _, id := range m.table.ids() {
		each := m.table.members[id]
		if each.Status >= Exiting {
			continue
		}
		x := downing.Member{
			Name:        each.Name,
			Address:     id.Address,
			Incarnation: id.Incarnation,
			UpNumber:    each.UpNumber,
			Roles:       each.Roles,
			Joining:     each.UpNumber == 0,
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

// actsFor reports whether this node is the first candidate of its side.
func (m *Machine) actsFor(here []downing.Member) bool {
	side := idsOf(here)
	decider, ok := first(m.table.candidates(m.set.Leader), func(each Member) bool {
		return slices.Contains(side, each.ID())
	})
	return ok && decider.ID() == m.self
}
