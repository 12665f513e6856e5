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

// A message is sent from node to node, or by gossip.
//
//sumtype:decl
type message interface{ message() }

// A heartbeat says that the sender is alive, and what it knows, as sums. A heartbeat between
// two regular ones, sent because of news, has the number of the last regular one. It does not
// count for the rhythm that the detector observes.
type heartbeat struct {
	_       struct{} `cbor:",toarray"`
	Cluster ClusterID
	Seq     uint64
	Stream  bool // sent on the TCP stream; a copy went as a datagram
	Members uint64
	All     uint64
	Seen    []byte // the sender's witnesses of Members
}

type joinRequest struct {
	_         struct{} `cbor:",toarray"`
	To        string   // the address that was asked, as the sender knows it
	Name      string
	Roles     []string
	Meta      map[string]string
	Agreement agreement
	Replaces  []uint64 // earlier incarnations at the sender's address that it knows to be dead
	FoundsAs  founder
	Gone      []string // the addresses that an operator has declared gone

	AppVersion string
}

type verdict uint8

const (
	welcome   verdict = iota + 1 // the sender is joining; the table is in the answer
	notMember                    // the answering node looks for a cluster itself
	busy                         // ask again: the answering node cannot decide now
	replace                      // ask again, and say that the sender replaces these incarnations
	nameTaken                    // another member has the sender's name
	refused                      // the sender will never be admitted
	buried                       // this incarnation of the sender has been removed
)

type joinAnswer struct {
	_        struct{} `cbor:",toarray"`
	To       string   // as in the request
	Verdict  verdict
	Reason   string
	Replaces []uint64
	Table    packed
	Names    []string // the seeds of the answering node, see seed_group.go
	Grants   bool     // the receiver may found a cluster as the lowest of its group
}

type tablePull struct {
	_ struct{} `cbor:",toarray"`
}

// A tablePush carries a table, or a part of it. Gossip relays it, so it names its origin.
type tablePush struct {
	_     struct{} `cbor:",toarray"`
	From  ID
	Whole bool
	Table packed
}

// A youAreDown tells a node that the sender's cluster has taken it down, and contains the table
// as proof.
type youAreDown struct {
	_     struct{} `cbor:",toarray"`
	Table packed
}

// A gone says that the sender has stopped all it ran and is no longer a member.
type gone struct {
	_ struct{} `cbor:",toarray"`
}

type goneSeen struct {
	_ struct{} `cbor:",toarray"`
}

// An observe asks a member from which heartbeats are missing to send some. That member may not
// know yet that the sender observes it.
type observe struct {
	_ struct{} `cbor:",toarray"`
}

// A greeting invites any node at an address: to join, or to compare clusters.
type greeting struct {
	_       struct{} `cbor:",toarray"`
	Cluster ClusterID
	Size    uint64 // members that are up
}

// A dissolve tells the members of the sender's cluster to leave it at once and to join the
// cluster at the given addresses.
type dissolve struct {
	_       struct{} `cbor:",toarray"`
	Instead []string
}

func (heartbeat) message()   {}
func (joinRequest) message() {}
func (joinAnswer) message()  {}
func (tablePull) message()   {}
func (tablePush) message()   {}
func (youAreDown) message()  {}
func (gone) message()        {}
func (goneSeen) message()    {}
func (observe) message()     {}
func (greeting) message()    {}
func (dissolve) message()    {}
