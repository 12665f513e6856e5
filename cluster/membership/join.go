package membership

import (
	"slices"
	"time"
)

// questions are what a node that seeks a cluster asks.
type questions struct {
	addresses []string          // who is asked, besides those that discovery finds
	aliases   map[string]bool   // of all asked, which turned out to be this node itself
	names     map[string]string // of all asked, what those who answer call themselves
	started   time.Time
	next      time.Time
	last      string               // who was asked last, when not all are asked at once
	negative  map[string]time.Time // when an address last said that there is no cluster, or had certainly nobody there
	replaces  []uint64             // what the answers told us to replace
	joinable  time.Time            // when somebody last answered as one who is in a cluster
	taken     time.Time            // since when our name is said to be taken
	waits     string               // for what the node waits, as people are shown
	absent    []string             // for whom
	told      string               // what of that was logged last
	tellAt    time.Time            // when the next may be
	groups    groups
	heard     map[string]time.Time // when each of those asked was last heard from
	gone      map[string]bool      // those of all asked that an operator has said to be gone
}

// seek begins to ask all seeds, and where members lived before, for a cluster to join.
func (m *Machine) seek() {
	m.phase = seeking
	m.questions = questions{
		aliases:  map[string]bool{},
		names:    map[string]string{},
		started:  m.now,
		negative: map[string]time.Time{},
		replaces: m.set.Earlier,
		groups:   groups{lists: map[string]seedList{}},
		heard:    map[string]time.Time{},
		gone:     map[string]bool{},
	}
	for _, address := range slices.Concat(m.set.Seeds, m.set.Known) {
		m.ask(address)
	}
	m.askAround()
	m.findWhenDue()
	m.publish()
}

// ask adds an address to those who are asked.
func (m *Machine) ask(address string) {
	if address != m.self.Address && !slices.Contains(m.questions.addresses, address) {
		m.questions.addresses = append(m.questions.addresses, address)
	}
}

func (m *Machine) askWhenDue() {
	if !m.now.Before(m.questions.next) {
		m.askAround()
	}
}

// askAround asks everybody at once; but a node that founds nothing needs not hear from all
// of them, and asks a few at a time.
func (m *Machine) askAround() {
	q := &m.questions
	pause := askAgain
	if m.now.Sub(q.started) >= askPatience {
		pause = askSeldom
		m.sayWhy()
	}
	q.next = m.now.Add(pause)
	for _, address := range m.round() {
		m.askOne(address)
	}
	m.foundWhenAlone()
}

// round returns the nodes that are asked this time: all by a node that founds a cluster; else all seeds, where
// they are few, as their lists are needed at once, and some of the others in turn.
func (m *Machine) round() []string {
	asked := m.targets()
	if len(asked) <= askAtOnce || m.foundsAs() != 0 {
		return asked
	}
	var always []string
	if len(m.set.Seeds) <= askAtOnce/2 {
		isSeed := func(address string) bool { return slices.Contains(m.set.Seeds, address) }
		always = slices.DeleteFunc(slices.Clone(asked), func(a string) bool { return !isSeed(a) })
		asked = slices.DeleteFunc(asked, isSeed)
	}
	slices.Sort(asked)
	some := turn(asked, m.questions.last, askAtOnce-len(always))
	m.questions.last = some[len(some)-1]
	return slices.Concat(always, some)
}

// targets returns all who are asked, but for this node itself.
func (m *Machine) targets() []string {
	var targets []string
	skip := map[string]bool{}
	for _, address := range slices.Concat(m.questions.addresses, m.finds.addresses) {
		if !skip[address] && !m.isSelf(address) {
			targets = append(targets, address)
		}
		skip[address] = true
	}
	return targets
}

// turn returns up to n of all, which are sorted: those that come after the last one, as if
// they stood in a circle.
func turn(all []string, last string, n int) []string {
	i, found := slices.BinarySearch(all, last)
	if found {
		i++
	}
	return slices.Concat(all[i:], all[:i])[:min(n, len(all))]
}

func (m *Machine) askOne(address string) {
	self := m.set.Self
	m.tell(ID{Address: address}, joinRequest{
		To:        address,
		Name:      self.Name,
		Roles:     self.Roles,
		Meta:      self.Meta,
		Agreement: m.set.agreement(),
		Replaces:  m.questions.replaces,
		FoundsAs:  m.foundsAs(),
		Gone:      m.goneNodes(),
	})
}

// enter makes the node a member according to a whole table.
func (m *Machine) enter(t table) {
	m.phase = member
	clear(m.known)
	m.table = newTable(t.cluster)
	m.begin()
	m.merge(t)
	m.beatAt, m.greetAt = m.now, m.now.Add(greetEvery)
	change := m.change()
	change.rows[m.self] = row{Version: 1}
	m.decide(change)
}

// notReached: an address cannot be connected. That nobody listens there is an answer;
// that it belongs to another cluster is one as well, except for a seed. That one of us
// does not trust the other is none: there may well be our cluster.
func (m *Machine) notReached(ev DialFailed) {
	switch {
	case m.phase == member:
		m.refusedFor(ev)
	case m.phase != seeking:
	case ev.Foreign+ev.Mistrust != "" && slices.Contains(m.set.Seeds, ev.Address) && len(m.set.Earlier) == 0:
		m.finish(&RefusedError{Address: ev.Address, Reason: ev.Foreign + ev.Mistrust})
	case ev.Mistrust != "":
	case ev.Foreign != "" || ev.Refused:
		m.deny(ev.Address)
	}
}

// answered handles the answer to a question.
func (m *Machine) answered(from ID, a joinAnswer) {
	switch {
	case m.phase == member && a.Verdict == welcome && a.Table.Cluster == m.table.cluster:
		m.learn(tablePush{From: from, Whole: true, Table: a.Table})
		return
	case m.phase != seeking:
		return
	}
	m.questions.names[a.To] = from.Address
	m.hearsFrom(from.Address)
	if a.Verdict == notMember {
		m.listed(from, a)
	} else {
		m.questions.joinable = m.now
		delete(m.questions.groups.lists, from.Address)
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
		m.rejoin = m.set.Rejoin
		m.finish(nil)
	case busy:
	}
}

// nameTaken gives up when another member keeps our name: it is not an earlier incarnation
// of this node that is about to be removed.
func (m *Machine) nameTaken(a joinAnswer) {
	switch q := &m.questions; {
	case q.taken.IsZero():
		q.taken = m.now
		m.do(Note{Warn: true, Text: "name is taken", Address: a.To, Reason: a.Reason})
	case m.now.Sub(q.taken) >= namePatience:
		m.finish(&RefusedError{Address: a.To, Reason: a.Reason})
	}
}
