package membership

func (m *Machine) asked(from ID, r joinRequest) {
	if from == m.self {
		m.join.askedBySelf(r)
		return
	}
	answer := m.answer(from, r)
	answer.To = r.To
	m.tell(from, answer)
}

func (m *Machine) answer(from ID, r joinRequest) joinAnswer {
	switch m.phase {
	case phaseJoining:
		return m.join.answerJoiner(from, r)
	case phaseMember:
		return m.admission.admit(from, r)
	case phaseIdle, phaseDowned, phaseDeparting, phaseEnded:
	}
	return joinAnswer{Verdict: busy}
}

func (m *Machine) receive(from ID, msg message) {
	switch msg := msg.(type) {
	case joinRequest:
		m.asked(from, msg)
	case joinAnswer:
		if m.phase == phaseMember && msg.Verdict == welcome && msg.Table.Cluster == m.table.cluster {
			m.learn(tablePush{From: from, Whole: true, Table: msg.Table})
		}
		m.join.answered(from, msg)
	case gone:
		m.departure.removeClean(from)
	case goneSeen:
		if m.table.status(from) != 0 {
			m.departure.acked[from] = true
		}
	case greeting:
		if m.phase == phaseJoining {
			m.contacts.ask(from.Address)
			m.join.askOne(from.Address)
		}
		m.clusters.greeted(from, msg)
	case heartbeat, observe, tablePull, tablePush, youAreDown, dissolve:
		if m.phase == phaseMember {
			m.receiveAsMember(from, msg)
		}
	}
}

func (m *Machine) receiveAsMember(from ID, msg message) {
	switch msg := msg.(type) {
	case youAreDown:
		m.clusters.toldDown(from, msg)
		return
	case heartbeat:
		if msg.Cluster != m.table.cluster {
			m.clusters.greet(from.Address)
			return
		}
	case joinRequest, joinAnswer, observe, tablePull, tablePush, gone, goneSeen, greeting, dissolve:
	}
	switch status := m.table.status(from); {
	case status == 0:
		m.receiveUnknown(from, msg)
	case status >= Down:
		m.tell(from, youAreDown{Table: m.table.pack()})
	default:
		m.receiveFromMember(from, msg)
	}
}

// receiveUnknown handles a message from a node that is not a member. Perhaps this node has not
// learned of a new member yet. If heartbeats continue for unknownFor, the sender is a member
// that this node has forgotten.
func (m *Machine) receiveUnknown(from ID, msg message) {
	if _, beats := msg.(heartbeat); !beats {
		return
	}
	since, known := m.unknown[from]
	switch {
	case !known && len(m.unknown) >= MaxMembers:
	case !known:
		m.unknown[from] = m.now
	case m.now.Sub(since) >= unknownFor:
		delete(m.unknown, from)
		m.tell(from, youAreDown{Table: m.table.pack()})
	}
}

func (m *Machine) receiveFromMember(from ID, msg message) {
	delete(m.unknown, from)
	switch msg := msg.(type) {
	case heartbeat:
		m.receiveHeartbeat(from, msg)
	case observe:
		m.dissemination.answerObserver(from)
	case tablePull:
		m.tell(from, tablePush{From: m.self, Whole: true, Table: m.table.pack()})
	case tablePush:
		msg.From = from
		m.learn(msg)
	case dissolve:
		m.departure.goDown("the cluster dissolves", msg.Instead)
	case joinRequest, joinAnswer, youAreDown, gone, goneSeen, greeting:
	}
}

// receiveHeartbeat records a heartbeat and the sender's witnesses, and asks for the sender's
// table if it keeps differing from ours.
func (m *Machine) receiveHeartbeat(from ID, h heartbeat) {
	if m.seenBy.learn(from, h.Members, h.Seen) {
		m.dissemination.hasNews = true
		m.dirty = m.dirty || m.agree() != m.converged
	}
	if h.Members == m.sums.members && m.table.status(from) == Up {
		m.confirm()
	}
	if m.observation.monitor.hear(from, h, m.now) && m.observation.monitor.differs(from, h.All != m.sums.all) {
		m.tell(from, tablePull{})
	}
}

// confirm lets this node act as up: it knows all members that another member that is up knows.
func (m *Machine) confirm() {
	if m.table.status(m.self) == Up && !m.acting {
		m.acting, m.dirty = true, true
	}
}

// learn adopts what another member knows. It ignores members that are down and unknown nodes;
// otherwise two sides that have removed each other would both end.
func (m *Machine) learn(p tablePush) {
	if m.phase != phaseMember || p.Table.Cluster != m.table.cluster || p.From == m.self {
		return
	}
	if status := m.table.status(p.From); status == 0 || status >= Down {
		return
	}
	m.merge(p.Table.table())
	if p.Whole {
		m.confirm()
	}
}
