package membership

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// deny notes that there is no cluster at an address.
func (m *Machine) deny(address string) {
	m.questions.negative[address] = m.now
	m.foundWhenAlone()
}

// denied reports whether an address has said lately that there is no cluster.
func (q questions) denied(address string, now time.Time) bool {
	at, ok := q.negative[address]
	return ok && now.Sub(at) <= answerHolds
}

// foundWhenAlone founds a cluster, if this node may, and everybody who was asked has just
// said that there is none; or if an operator wants it, and nobody has let it in.
func (m *Machine) foundWhenAlone() {
	if m.phase != seeking || !m.forced() && m.obstacle() != "" {
		return
	}
	t := newTable(m.set.Founding)
	self := m.set.Self
	self.Status = Joining
	t.members[m.self] = self
	m.do(Note{Text: "founding a cluster", Address: m.self.Address})
	m.enter(t)
	m.greetAt = m.now // who still asks, and seldom, joins at once
}

// askBack asks who has just asked, and is in no cluster either, if this node waits for
// nothing else to found one.
func (m *Machine) askBack(address string) {
	if m.mayFound() && slices.Contains(m.unheard(), address) {
		m.askOne(address)
	}
}

// forced reports whether this node founds a cluster by order, as nobody knows of one. Only
// its first incarnation does: a later one has been put out of a cluster, which may well go
// on without it.
func (m *Machine) forced() bool {
	q := m.questions
	return m.set.Force && len(m.set.Earlier) == 0 &&
		m.now.Sub(q.started) >= askPatience && m.now.Sub(q.joinable) > answerHolds
}

// mayFound reports whether this node is the one that founds, if anybody does.
func (m *Machine) mayFound() bool {
	first, ok := m.firstSeed()
	return !ok && !m.set.Discovers || ok && m.isSelf(first)
}

func (m *Machine) isSelf(address string) bool {
	return address == m.self.Address || m.questions.aliases[address]
}

// firstSeed returns the address of the node that founds. Discovery has no order of its own,
// so then it is the lowest address.
func (m *Machine) firstSeed() (string, bool) {
	switch wanted := m.wanted(); {
	case len(wanted) == 0:
		return "", false
	case m.set.Discovers:
		return slices.Min(wanted), true
	default:
		return wanted[0], true
	}
}

// wanted returns where nodes should be: the seeds, and what discovery finds.
func (m *Machine) wanted() []string { return slices.Concat(m.set.Seeds, m.finds.addresses) }

// obstacle says what is in the way of founding a cluster; it is empty if nothing is.
func (m *Machine) obstacle() string {
	if m.set.Discovers {
		if why := m.tooLittleFound(); why != "" {
			return why
		}
	}
	if first, _ := m.firstSeed(); m.follows() {
		if why := m.ungrouped(); why != "" {
			return why
		}
	} else if !m.mayFound() {
		return m.notFirst(first)
	}
	if unheard := m.unheard(); len(unheard) > 0 {
		return "without an answer of " + strings.Join(unheard, ", ") + " it cannot be known that there is none" + m.advice()
	}
	return ""
}

func (m *Machine) notFirst(first string) string {
	if !slices.ContainsFunc(m.wanted(), m.isSelf) {
		return fmt.Sprintf("discovery does not find this node, which advertises %s: set Config.Advertise to what is found, such as %s", m.self.Address, first)
	}
	return "nobody found is a member, and only the lowest address, " + first + ", founds a cluster"
}

// unheard returns the addresses that have not said lately that there is no cluster.
func (m *Machine) unheard() []string {
	return slices.DeleteFunc(m.targets(), func(a string) bool { return m.questions.denied(a, m.now) || m.hasVanished(a) || m.questions.gone[a] })
}

// hasVanished reports whether discovery, while it works, has not found an address for so
// long that nobody will ever answer there, unless it is a seed.
func (m *Machine) hasVanished(address string) bool {
	if !m.set.Discovers || m.finds.first.IsZero() || slices.Contains(m.set.Seeds, address) {
		return false
	}
	last, ok := m.finds.last[address]
	if !ok {
		last = m.finds.first
	}
	return m.now.Sub(last) >= vanishAfter
}

// sayWhy tells people what the node is waiting for.
func (m *Machine) sayWhy() {
	q, why := &m.questions, m.obstacle()
	if why != q.waits {
		q.waits, q.absent = why, m.absent()
		m.publish()
	}
	if why != "" && why != q.told && !m.now.Before(q.tellAt) {
		q.told, q.tellAt = why, m.now.Add(tellEvery)
		m.do(Note{Warn: true, Text: "still looking for a cluster", Reason: why})
	}
}
