package cluster

import (
	"slices"
	"strings"
	"time"
)

// questions are what a node that seeks a cluster asks.
type questions struct {
	addresses []string        // who is asked
	aliases   map[string]bool // of these, which turned out to be this node itself
	started   time.Time
	next      time.Time
	negative  map[string]time.Time // when an address last said that there is no cluster, or had certainly nobody there
	replaces  []uint64             // what the answers told us to replace
	taken     time.Time            // since when our name is said to be taken
	told      bool                 // that this takes long
}

// seek begins to ask all seeds, and where members lived before, for a cluster to join.
func (m *machine) seek() {
	m.phase = seeking
	m.questions = questions{aliases: map[string]bool{}, negative: map[string]time.Time{}, started: m.now, replaces: m.set.earlier}
	for _, address := range slices.Concat(m.set.seeds, m.set.known) {
		m.ask(address)
	}
	m.askAround()
	m.publish()
}

// ask adds an address to those who are asked.
func (m *machine) ask(address string) {
	if address != m.self.Address && !slices.Contains(m.questions.addresses, address) {
		m.questions.addresses = append(m.questions.addresses, address)
	}
}

func (m *machine) askWhenDue() {
	if !m.now.Before(m.questions.next) {
		m.askAround()
	}
}

// askAround asks everybody at once.
func (m *machine) askAround() {
	q := &m.questions
	pause := askAgain
	if m.now.Sub(q.started) >= askPatience {
		pause = askSeldom
		m.sayWhy()
	}
	q.next = m.now.Add(pause)
	for _, address := range q.addresses {
		if q.aliases[address] {
			continue
		}
		m.askOne(address)
	}
	m.foundWhenAlone()
}

// sayWhy tells people, once, what the node is waiting for.
func (m *machine) sayWhy() {
	if m.questions.told {
		return
	}
	m.questions.told = true
	reason := "no seed is a member, and only the first one founds a cluster"
	if m.mayFound() {
		reason = "without an answer of " + strings.Join(m.unheard(), ", ") + " it cannot be known that there is none"
	}
	m.do(note{warn: true, text: "still looking for a cluster", reason: reason})
}

// unheard returns the addresses that have not said lately that there is no cluster.
func (m *machine) unheard() []string {
	q := m.questions
	return slices.DeleteFunc(slices.Clone(q.addresses), func(a string) bool { return q.aliases[a] || q.denied(a, m.now) })
}

func (m *machine) askOne(address string) {
	self := m.set.self
	m.tell(ID{Address: address}, joinRequest{
		To:       address,
		Name:     self.Name,
		Roles:    self.Roles,
		Meta:     self.Meta,
		Rules:    m.set.agreed(),
		Replaces: m.questions.replaces,
	})
}

// mayFound reports whether this node is the first seed.
func (m *machine) mayFound() bool {
	if len(m.set.seeds) == 0 {
		return true
	}
	first := m.set.seeds[0]
	return first == m.self.Address || m.questions.aliases[first]
}

// deny notes that there is no cluster at an address.
func (m *machine) deny(address string) {
	m.questions.negative[address] = m.now
	m.foundWhenAlone()
}

// foundWhenAlone founds a cluster, if this node may, and everybody who was asked has just
// said that there is none.
func (m *machine) foundWhenAlone() {
	if m.phase != seeking || !m.mayFound() || len(m.unheard()) > 0 {
		return
	}
	t := newTable(m.set.founding)
	self := m.set.self
	self.Status = Joining
	t.members[m.self] = self
	m.do(note{text: "founding a cluster", address: m.self.Address})
	m.enter(t)
}

// enter makes the node a member according to a whole table.
func (m *machine) enter(t table) {
	m.phase = member
	clear(m.known)
	records := m.table.records
	m.table = newTable(t.cluster)
	m.begin()
	m.merge(t)
	m.beatAt, m.greetAt = m.now, m.now.Add(greetEvery)
	change := m.change()
	change.records = records
	change.rows[m.self] = row{Version: 1, Offers: m.set.offers}
	m.decide(change)
}

// denied reports whether an address has said lately that there is no cluster.
func (q questions) denied(address string, now time.Time) bool {
	at, ok := q.negative[address]
	return ok && now.Sub(at) <= answerHolds
}

// notReached: an address cannot be connected. That nobody listens there is an answer;
// that it belongs to another cluster is one as well, except for a seed.
func (m *machine) notReached(ev notReached) {
	switch {
	case m.phase == member:
		m.refusedFor(ev)
	case m.phase != seeking:
	case ev.foreign != "" && slices.Contains(m.set.seeds, ev.address) && len(m.set.earlier) == 0:
		m.finish(&RefusedError{Address: ev.address, Reason: ev.foreign})
	case ev.foreign != "" || ev.refused:
		m.deny(ev.address)
	}
}

// answered handles the answer to a question.
func (m *machine) answered(from ID, a joinAnswer) {
	switch {
	case m.phase == member && a.Verdict == welcome && a.Table.Cluster == m.table.cluster:
		m.learn(tablePush{From: from, Whole: true, Table: a.Table})
		return
	case m.phase != seeking:
		return
	}
	switch a.Verdict {
	case welcome:
		if t := a.Table.table(); t.members[m.self].Status != 0 {
			m.enter(t)
		}
	case notMember:
		m.deny(a.To)
	case replace:
		m.questions.replaces = union(m.questions.replaces, a.Replaces)
		m.askOne(a.To)
	case nameTaken:
		m.nameTaken(a)
	case refused:
		m.finish(&RefusedError{Address: a.To, Reason: a.Reason})
	case buried:
		m.rejoin = m.set.rejoin
		m.finish(nil)
	case busy:
	}
}

// nameTaken gives up when another member keeps our name: it is not an earlier incarnation
// of this node that is about to be removed.
func (m *machine) nameTaken(a joinAnswer) {
	switch q := &m.questions; {
	case q.taken.IsZero():
		q.taken = m.now
		m.do(note{warn: true, text: "name is taken", address: a.To, reason: a.Reason})
	case m.now.Sub(q.taken) >= namePatience:
		m.finish(&RefusedError{Address: a.To, Reason: a.Reason})
	}
}
