package membership

import "fmt"

// asked answers who wants to join.
func (m *Machine) asked(from ID, r joinRequest) {
	if from == m.self {
		m.askedBySelf(r)
		return
	}
	answer := m.answer(from, r)
	answer.To = r.To
	m.tell(from, answer)
}

// askedBySelf: one of the seeds is this very node under another name.
func (m *Machine) askedBySelf(r joinRequest) {
	if m.phase == seeking && !m.questions.aliases[r.To] {
		m.questions.aliases[r.To] = true
		clear(m.questions.negative) // others were asked as if by a node that follows
		m.foundWhenAlone()
	}
}

func (m *Machine) answer(from ID, r joinRequest) joinAnswer {
	switch m.phase {
	case seeking:
		m.hearsFrom(from.Address)
		m.hearGone(r.Gone)
		m.askBack(from.Address)
		return m.denyTo(from, r)
	case member:
		return m.admit(from, r)
	case idle, downed, parting, ended:
	}
	return joinAnswer{Verdict: busy}
}

// admit makes who asks a member, unless something is against it.
func (m *Machine) admit(from ID, r joinRequest) joinAnswer {
	switch status := m.table.status(from); {
	case !m.mayAdmit():
		return joinAnswer{Verdict: busy}
	case status >= Down:
		return joinAnswer{Verdict: buried}
	case status != 0:
		return joinAnswer{Verdict: welcome, Table: m.table.pack()}
	}
	if err := CheckSelf(r.Name, r.Roles, r.Meta); err != nil {
		return joinAnswer{Verdict: refused, Reason: err.Error()}
	}
	if reason := m.disagreement(r.Agreement); reason != "" {
		return joinAnswer{Verdict: refused, Reason: reason}
	}
	if earlier := m.earlier(from); len(union(r.Replaces, earlier)) > len(union(r.Replaces, nil)) {
		return joinAnswer{Verdict: replace, Replaces: earlier}
	}
	if other, taken := m.named(r.Name, from.Address); taken {
		if len(m.table.unreachable()[other.ID()]) > 0 {
			return joinAnswer{Verdict: busy} // it may be the same node, from before a crash
		}
		return joinAnswer{Verdict: nameTaken, Reason: fmt.Sprintf("the member at %s is named %q already", other.Address, r.Name)}
	}
	if difference := m.set.agreement().difference(r.Agreement); difference != "" {
		m.do(Note{Text: "a node with other settings joins", Address: from.Address, Reason: difference})
	}
	m.let(from, r)
	return joinAnswer{Verdict: welcome, Table: m.table.pack()}
}

// mayAdmit reports whether this node can speak for the cluster: it is up, or there is
// nobody up and it is the one to act.
func (m *Machine) mayAdmit() bool {
	if m.table.status(m.self) == Up {
		return m.acting
	}
	leader, ok := first(m.table.candidates(m.set.Leader), func(Member) bool { return true })
	return ok && leader.ID() == m.self && leader.Status == Joining
}

// earlier returns the incarnations at the address of a node that wants to join of which
// it is not certain that nothing of them runs. It is, as soon as the node says that it
// replaces them: it has heard of them, so it lives after them at the same address.
func (m *Machine) earlier(from ID) []uint64 {
	var numbers []uint64
	for _, id := range m.table.at(from.Address) {
		numbers = append(numbers, id.Incarnation)
	}
	for id, dead := range m.table.tombs {
		if id.Address == from.Address && !dead.Clean {
			numbers = append(numbers, id.Incarnation)
		}
	}
	return union(numbers, nil)
}

// named returns the member at another address that has a name.
func (m *Machine) named(name, address string) (Member, bool) {
	for _, id := range m.table.ids() {
		if other := m.table.members[id]; other.Name == name && other.Address != address && other.Status < Down {
			return other, true
		}
	}
	return Member{}, false
}

// let adds a joining member, in the place of what lived at its address before.
func (m *Machine) let(from ID, r joinRequest) {
	change := m.change()
	for _, number := range m.earlier(from) {
		change.tombs[ID{Address: from.Address, Incarnation: number}] = tomb{Clean: true, At: m.unix()}
	}
	change.members[from] = Member{
		Name:        r.Name,
		Address:     from.Address,
		Incarnation: from.Incarnation,
		Status:      Joining,
		Roles:       r.Roles,
		Meta:        r.Meta,
		Downing:     r.Agreement.Downing,
	}
	m.decide(change)
}
