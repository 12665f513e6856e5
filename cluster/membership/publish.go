package membership

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// publish shows how things stand.
func (m *Machine) publish() {
	m.version++
	m.do(Publish{m.view()})
}

func (m *Machine) view() View {
	v := View{Version: m.version, Self: m.set.Self, tombs: maps.Clone(m.table.tombs)}
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
	v.order = m.set.Leader.order(v.Members)
	v.gone = m.unclean()
	v.waiting = m.whyWaiting(v)
	return v
}

// unclean returns who was removed without a sign that it has stopped, and since when.
func (m *Machine) unclean() map[ID]time.Time {
	gone := map[ID]time.Time{}
	for id, dead := range m.table.tombs {
		if !dead.Clean {
			gone[id] = m.removed[id]
		}
	}
	return gone
}

// Waiting says, for people, why nothing moves: who is unreachable and what ends that,
// which members must still come, who has not agreed yet. It is empty when all is well.
func (v View) Waiting() string { return strings.Join(v.waiting, "; ") }

// whyWaiting explains what this node is waiting for.
func (m *Machine) whyWaiting(v View) []string {
	switch {
	case m.phase == seeking:
		return []string{cmp.Or(m.questions.waits, "looking for a cluster")}
	case m.phase != member:
		return nil
	}
	var why []string
	for _, each := range v.Unreachable() {
		if each.Status < Exiting {
			why = append(why, fmt.Sprintf("%s is unreachable (by %s) and %s", each.Name, strings.Join(namesOf(v.UnreachableBy(each)), ", "), m.set.untilDown()))
		}
	}
	if lacks := m.set.lacks(m.table); len(lacks) > 0 {
		why = append(why, "fewer members than Config.MinMembers and MinMembersOf ask for: "+strings.Join(lacks, ", "))
	}
	if late := m.late(); len(why) == 0 && len(late) > 0 {
		why = append(why, "members have not agreed: waiting for "+strings.Join(late, ", "))
	}
	return why
}

// untilDown says what ends it that a member is unreachable.
func (r Settings) untilDown() string {
	if r.Downing.Delay() < 0 {
		return "downing is " + r.Downing.String() + ": heal it or call Down"
	}
	return "downing by " + r.Downing.String() + " decides when nothing has changed for " + r.Downing.Delay().String()
}

// late returns the names of the members that are not known to have what this node has.
func (m *Machine) late() []string {
	var late []string
	for _, id := range m.table.voters() {
		if !m.witnesses.has(id) {
			late = append(late, m.table.members[id].Name)
		}
	}
	slices.Sort(late)
	return late
}

// namesOf returns the names of members.
func namesOf(members []Member) []string {
	var names []string
	for _, m := range members {
		names = append(names, m.Name)
	}
	return names
}
