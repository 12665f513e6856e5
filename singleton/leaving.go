package singleton

import (
	"time"

	"github.com/understudy-go/understudy/internal/node"
)

// takeLeave tells the hub, when it wants to know, that no instance runs here, and that
// nothing will be lost when the node ends: no message waits here for an instance
// elsewhere, none is on its way back, and none on its way here. A node that is down has
// nobody to take leave of.
func (m *manager[M]) takeLeave(now time.Time) {
	switch m.machine.phase {
	case Asking, Acquiring, Host:
		m.hosted = m.self()
	case Pending, Standby, HandingOver, Stopping, Ended:
	}
	if !m.draining || m.machine.occupied() || m.machine.phase == Host || m.machine.outside.releasing {
		m.goodbyes.plan(now, false)
		return
	}
	waits := !m.machine.topo.Down && m.machine.phase != Ended && m.waitsToLeave()
	m.goodbyes.plan(now, waits)
	if waits || m.mail.closed || !m.settled() {
		return
	}
	m.draining = false
	m.office.hub.Tell(drained{name: m.name})
}

// waitsToLeave says farewell, and reports whether there is something to wait for.
func (m *manager[M]) waitsToLeave() bool {
	if m.farewell.say(m.hosted == m.self()) {
		m.sayFarewell()
	}
	ask, waits := waitsToLeave(&m.farewell, m.machine, &m.mail)
	if ask {
		m.askSettled()
	}
	return waits
}

// waitsToLeave reports whether there is something to wait for before a node leaves, and
// whether the next host is to be asked about what was sent there.
func waitsToLeave[M any](f *farewell, m *machine, q *mail[M]) (ask, waits bool) {
	if len(f.unaware(m.topo)) > 0 {
		return false, true
	}
	if _, somebody := m.host(); !somebody {
		return false, false
	}
	if q.size() > 0 || q.closed {
		return false, true
	}
	to := q.sentTo
	if !m.topo.reachable(to) {
		to = node.ID{}
	}
	return f.ask(to, q.sends)
}

// lookAfterFarewell says again what may not have been heard.
func (m *manager[M]) lookAfterFarewell(now time.Time) {
	if !m.goodbyes.due(now) {
		return
	}
	m.sayFarewell()
	if m.farewell.to != (node.ID{}) {
		m.askSettled()
	}
}

// sayFarewell tells those who have not answered yet. The marks come before it, so who is
// to host next has them before this node is gone.
func (m *manager[M]) sayFarewell() {
	host, _ := m.machine.host()
	for _, id := range m.farewell.unaware(m.machine.topo) {
		if id == host.ID {
			m.sendMarks(id)
		}
		m.post.send(id, wireFarewell{Name: m.name, From: m.self(), To: id})
	}
}

func (m *manager[M]) askSettled() {
	m.post.send(m.farewell.to, wireSettle{Name: m.name, From: m.self(), To: m.farewell.to, Number: m.farewell.number})
}

// onFarewell sends nothing any more to a node that will not host again. What it still has
// is called back before it is answered.
func (m *manager[M]) onFarewell(w wireFarewell) {
	if m.parted == nil {
		m.parted = make(map[node.ID]bool)
	}
	m.parted[w.From] = true
	m.reroute()
	if m.mail.part(w.From) {
		m.sendRecall()
	}
	m.post.send(w.From, wireFarewellHeard{Name: m.name, From: m.self(), To: w.From})
	m.settle(time.Now())
}

// onSettle answers when nothing of a node waits here.
func (m *manager[M]) onSettle(w wireSettle) {
	if m.settlers == nil {
		m.settlers = make(map[node.ID]uint64)
	}
	m.settlers[w.From] = w.Number
	m.answerSettlers()
}

func (m *manager[M]) answerSettlers() {
	for from, number := range m.settlers {
		if !m.guests.has(from) {
			delete(m.settlers, from)
			m.post.send(from, wireSettled{Name: m.name, From: m.self(), To: from, Number: number})
		}
	}
}
