package membership

import "slices"

// beatWhenDue sends the heartbeat, at the tick that is nearest to when it is due: a tick
// that comes a little early must not make it late by a whole one.
func (m *Machine) beatWhenDue() {
	d := m.set.Detector
	if m.now.Add(d.CheckEvery / 2).Before(m.beatAt) {
		return
	}
	m.beatAt = m.beatAt.Add(d.Interval)
	if m.beatAt.Before(m.now) {
		m.beatAt = m.now.Add(d.Interval) // it has been asleep
	}
	m.beat()
}

// beat sends the regular heartbeat to those who observe this node.
func (m *Machine) beat() {
	m.eager, m.spokeAt = false, m.now
	to := m.audience()
	if len(to) == 0 {
		return
	}
	m.seq++
	addresses := make([]string, len(to))
	for i, id := range to {
		addresses[i] = id.Address
	}
	m.do(Beat{To: addresses, msg: m.heartbeat()})
}

// beatWhenEager tells the neighbours what is new without waiting until a heartbeat is due,
// but not too often, so that members agree within milliseconds.
func (m *Machine) beatWhenEager() {
	if !m.eager || m.phase != member || m.now.Sub(m.spokeAt) < newsEvery {
		return
	}
	m.eager, m.spokeAt = false, m.now
	msg := m.heartbeat()
	msg.Stream = true
	for _, id := range slices.Concat(m.audience(), m.near.fingers) {
		m.tell(id, msg)
	}
}

func (m *Machine) heartbeat() heartbeat {
	return heartbeat{
		Cluster: m.table.cluster,
		Seq:     m.seq,
		Members: m.sums.members,
		All:     m.sums.all,
		Seen:    slices.Clone(m.witnesses.bits),
	}
}

func (m *Machine) writeRow(r row) {
	r.Version++
	change := m.change()
	change.rows[m.self] = r
	m.decide(change)
}

// tellNews tells all members directly what this node has decided, and by gossip whatever
// is new. Who misses both is made good for by the sums in the heartbeats. Gossip brings
// entries one by one: from a node that gives itself up together with others it brings
// nothing, as who hears first of the one would believe nothing more of what it says.
func (m *Machine) tellNews() {
	if !m.own.empty() {
		push := tablePush{From: m.self, Table: m.own.pack()}
		for _, id := range m.others() {
			m.tell(id, push)
		}
	}
	if !m.news.empty() && m.table.status(m.self) < Down {
		m.do(Spread{m.news})
	}
}
