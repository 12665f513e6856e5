package cluster

import "slices"

// beatWhenDue sends the heartbeat, at the tick that is nearest to when it is due: a tick
// that comes a little early must not make it late by a whole one.
func (m *machine) beatWhenDue() {
	d := m.set.detector
	if m.now.Add(d.CheckEvery / 2).Before(m.beatAt) {
		return
	}
	m.beatAt = m.beatAt.Add(d.Interval)
	if m.beatAt.Before(m.now) {
		m.beatAt = m.now.Add(d.Interval) // it has been asleep
	}
	m.beat()
}

func (m *machine) beat() {
	var to []string
	for _, id := range m.others() {
		to = append(to, id.Address)
	}
	if len(to) == 0 {
		return
	}
	m.seq++
	m.do(beat{to: to, msg: heartbeat{
		Cluster: m.table.cluster,
		Seq:     m.seq,
		Seen:    m.table.seen[m.self].Version,
		Members: m.sums.members,
		All:     m.sums.all,
	}})
}

// report writes into our row whom we cannot reach.
func (m *machine) report() {
	silent := m.monitor.look(m.now)
	if r := m.table.rows[m.self]; !slices.Equal(silent, r.Unreachable) {
		r.Unreachable = silent
		m.writeRow(r)
	}
}

// offer writes into our row that a singleton has a manager here.
func (m *machine) offer(name string) {
	if i, found := slices.BinarySearch(m.set.offers, name); !found {
		m.set.offers = slices.Insert(slices.Clone(m.set.offers), i, name)
	}
	if r := m.table.rows[m.self]; m.phase == member && !slices.Equal(r.Offers, m.set.offers) {
		r.Offers = m.set.offers
		m.writeRow(r)
	}
}

func (m *machine) writeRow(r row) {
	r.Version++
	change := m.change()
	change.rows[m.self] = r
	m.decide(change)
}

// tellNews tells all members directly what this node has decided, and by gossip whatever
// is new. Who misses both is made good for by the sums in the heartbeats.
func (m *machine) tellNews() {
	if !m.own.empty() {
		push := tablePush{From: m.self, Table: m.own.pack()}
		for _, id := range m.others() {
			m.tell(id, push)
		}
	}
	if !m.news.empty() {
		m.do(spread{m.news})
	}
}
