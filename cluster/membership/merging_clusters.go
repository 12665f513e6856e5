package membership

import (
	"bytes"
	"maps"
	"slices"
)

// greetWhenDue invites, from time to time, who lives at addresses where a member should
// be and none is: seeds, what discovery finds, and where removed members lived. It may be
// a node that seeks a cluster, or another cluster. They take turns, so that a round costs
// no more when many are lost. It also reconnects gossip, which does not do it by itself.
func (m *Machine) greetWhenDue() {
	if m.now.Before(m.greetAt) {
		return
	}
	m.greetAt = m.now.Add(greetEvery)
	for _, address := range turn(m.lost(), m.lastGreeted, greetAtOnce) {
		m.greet(address)
		m.lastGreeted = address
	}
	for _, id := range m.others() {
		if !m.gossip[id] && m.table.members[id].Status < Down {
			m.do(Connect{id.Address})
		}
	}
}

// lost returns the addresses where a member should be and none is, sorted.
func (m *Machine) lost() []string {
	lost := map[string]bool{}
	for _, address := range slices.Concat(m.wanted(), m.set.Known) {
		lost[address] = !m.isSelf(address)
	}
	for id, dead := range m.table.tombs {
		if !dead.Clean {
			lost[id.Address] = true
		}
	}
	homes := map[string]bool{}
	for id := range m.table.members {
		homes[id.Address] = true
	}
	maps.DeleteFunc(lost, func(address string, is bool) bool {
		return !is || homes[address] || homes[m.questions.names[address]]
	})
	return slices.Sorted(maps.Keys(lost))
}

func (m *Machine) greet(address string) {
	m.tell(ID{Address: address}, m.greeting())
}

func (m *Machine) greeting() greeting {
	return greeting{Cluster: m.table.cluster, Size: uint64(m.table.count(Up))}
}

// greeted: a node that seeks a cluster asks there at once; a member of another one
// compares.
func (m *Machine) greeted(from ID, g greeting) {
	switch {
	case m.phase == seeking:
		m.ask(from.Address)
		m.askOne(from.Address)
	case m.phase != member:
	case g.Cluster != m.table.cluster:
		m.compare(from, rival{cluster: g.Cluster, size: int(g.Size), homes: []string{from.Address}}, m.greeting())
	case m.table.status(from) >= Down:
		m.tell(from, youAreDown{Table: m.table.pack()})
	}
}

// A rival is another cluster, or the other half of ours.
type rival struct {
	cluster ClusterID
	size    int      // members that are up
	homes   []string // where members of it live, sorted
}

// compare decides which of two clusters dissolves: the smaller; of two equal ones that
// with the greater ID; of two halves of one that without the lowest address. The one that
// stays replies, so that the other compares the same.
func (m *Machine) compare(from ID, r rival, reply message) {
	if !m.yields(r) {
		m.tell(from, reply)
		return
	}
	m.do(Note{Warn: true, Text: "dissolving, as there is another cluster", Address: from.Address})
	for _, id := range m.others() {
		m.tell(id, dissolve{Instead: r.homes})
	}
	m.fall("there is another cluster", r.homes)
}

func (m *Machine) yields(r rival) bool {
	if ours := m.table.count(Up); ours != r.size {
		return ours < r.size
	}
	if order := bytes.Compare(m.table.cluster[:], r.cluster[:]); order != 0 {
		return order > 0
	}
	return slices.Compare(homes(m.table), r.homes) > 0
}

// homes returns where the members of a table live that are not down, sorted.
func homes(t table) []string {
	var homes []string
	for _, id := range t.ids() {
		if t.members[id].Status < Down {
			homes = append(homes, id.Address)
		}
	}
	return slices.Compact(homes)
}
