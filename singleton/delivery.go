package singleton

import (
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/node"
)

// straighten lets what is told on this node go straight to the instance, as long as the
// manager would do nothing else with it.
func (m *manager[M]) straighten() {
	if m.reliable.out == nil && m.mail.clear() && m.mail.route.kind == toInstance {
		m.goStraightTo(m.instance.ref)
	} else {
		m.goStraightTo(actor.ActorRef[M]{})
	}
}

func (m *manager[M]) goStraightTo(instance actor.ActorRef[M]) {
	if m.straight != instance {
		m.straight = instance
		extension.Bypass(m.ctx, m.onMessage, instance)
	}
}

// take takes what is told to the singleton on this node.
func (m *manager[M]) take(msg M) {
	if m.machine.phase == Ended {
		m.deadLetter(msg, ErrFinished)
		return
	}
	if m.refusing() {
		m.deadLetter(msg, m.mismatch)
		return
	}
	if m.reliable.out != nil {
		m.keep(msg)
		return
	}
	if m.mail.clear() {
		m.send(msg)
		return
	}
	m.overflowed(m.mail.hold(m.keepWaiting(msg)))
	m.awaitExpiry()
	m.report()
}

// send takes msg along the route, which is open.
func (m *manager[M]) send(msg M) {
	if m.mail.route.kind == toInstance {
		m.instance.ref.Tell(msg)
		return
	}
	payload, err := extension.PackMessage(msg)
	if err != nil {
		m.deadLetter(msg, err)
		return
	}
	m.mail.sent()
	m.post.send(m.mail.route.peer, wireDeliver{Name: m.name, From: m.machine.topo.Self, Payload: payload})
}

// onDeliver takes a message that another node has sent here. Where no instance is
// expected it goes back; but when its node has left, it is as if it had been told here.
func (m *manager[M]) onDeliver(from node.ID, p extension.Payload) {
	switch m.mail.route.kind {
	case toInstance:
		if msg, ok := m.unpack(p); ok {
			m.instance.ref.Tell(msg)
		}
	case toSelf:
		if over, overflow := m.guests.lodge(from, p, m.machine.set.expiry(time.Now())); overflow {
			if msg, ok := m.unpack(over); ok {
				m.drop(msg)
			}
		}
		m.awaitExpiry()
		m.report()
	case toNobody, toPeer:
		if m.machine.phase == Ended {
			m.refuse(p, ErrFinished)
			return
		}
		if !m.guests.hasLeft(from) {
			m.giveBack(from, p)
		} else if msg, ok := m.unpack(p); ok {
			m.take(msg)
		}
	}
}

// refuse makes a message of another node a dead letter.
func (m *manager[M]) refuse(p extension.Payload, reason error) {
	if msg, ok := m.unpack(p); ok {
		m.deadLetter(msg, reason)
	}
}

// unpack decodes a message of another node. When that fails it is a dead letter.
func (m *manager[M]) unpack(p extension.Payload) (msg M, ok bool) {
	msg, err := m.decode(p)
	return msg, err == nil
}

// decode is unpack, and says why it fails.
func (m *manager[M]) decode(p extension.Payload) (msg M, err error) {
	msg, content, err := extension.UnpackMessage[M](m.ctx.System(), p)
	if err != nil {
		m.deadLetter(content, err)
	}
	return msg, err
}

func (m *manager[M]) giveBack(to node.ID, p extension.Payload) {
	m.post.send(to, wireGiveBack{Name: m.name, From: m.machine.topo.Self, Payload: p})
}

// onGiveBack takes a message of ours that has not reached the instance.
func (m *manager[M]) onGiveBack(w wireGiveBack) {
	msg, ok := m.unpack(w.Payload)
	if !ok {
		return
	}
	if m.refusing() {
		m.deadLetter(msg, m.mismatch)
		return
	}
	over, recall := m.mail.gaveBack(m.keepWaiting(msg), w.From)
	m.overflowed(over)
	if recall {
		m.sendRecall()
	}
	m.flush()
	m.settle(time.Now())
}

// onRecall gives back what a node has sent here and is still here.
func (m *manager[M]) onRecall(w wireRecall) {
	for _, p := range m.guests.takeFrom(w.From.Address) {
		m.giveBack(w.From, p)
	}
	m.answerSettlers()
	m.post.send(w.From, wireRecalled{Name: m.name, From: m.machine.topo.Self, To: w.From, Number: w.Number})
	m.report()
}

func (m *manager[M]) onRecalled(w wireRecalled) {
	m.mail.recalled(w.Number)
	m.flush()
	m.settle(time.Now())
}

// sendRecall asks for what is with another node to come back. It may be sent twice.
func (m *manager[M]) sendRecall() {
	m.post.send(m.mail.sentTo, wireRecall{Name: m.name, From: m.machine.topo.Self, To: m.mail.sentTo, Number: m.mail.recall})
}

// lookAfterMail tries again what may have been in vain.
func (m *manager[M]) lookAfterMail(now time.Time) {
	if m.reliable.checks.due(now) && m.checkDue() {
		m.check()
	}
	if m.look.due(now) && m.mail.lookAfter(now.Sub(m.look.since), &m.machine.topo) {
		m.sendRecall()
	}
}

// reroute follows the machine: where do messages go now?
func (m *manager[M]) reroute() {
	if m.mail.redirect(m.route()) {
		m.sendRecall()
	}
	m.flush()
	m.aim()
	if m.machine.phase == Ended {
		m.giveUp(ErrFinished)
	}
}

func (m *manager[M]) route() route { return m.machine.route(m.instance.begun, m.parted) }

// route says where messages go; begun says that the instance that runs takes them, and
// parted who hosts no more, seen or not.
func (m *machine) route(begun bool, parted map[node.ID]bool) route {
	switch m.phase {
	case Host:
		if m.alive && begun {
			return route{kind: toInstance}
		}
		return route{kind: toSelf}
	case Asking, Acquiring, HandingOver, Stopping:
		return route{kind: toSelf}
	case Standby:
		return m.routeToHost(parted)
	case Pending: // a node that has left passes on what comes back to it
		if m.leaving == m.topo.Self && m.leaving != (node.ID{}) && !m.misfit() {
			return m.routeToHost(parted)
		}
	case Ended:
	}
	return route{kind: toNobody}
}

func (m *machine) routeToHost(parted map[node.ID]bool) route {
	if h, ok := m.host(); ok && h.Reachable && !h.assumed && h.ID != m.topo.Self && !parted[h.ID] {
		return route{kind: toPeer, peer: h.ID}
	}
	return route{kind: toNobody}
}

// flush sends what can go by now, in order.
func (m *manager[M]) flush() {
	if m.mail.route.kind != toSelf {
		for _, box := range m.guests.takeAll() {
			for _, p := range box.drain() {
				m.onDeliver(box.from, p)
			}
		}
	}
	m.answerSettlers()
	for w, ok := m.mail.next(); ok; w, ok = m.mail.next() {
		if m.passes(w) {
			m.send(w.Message)
		}
	}
}

// abandon gives up what waits here; what other nodes have sent goes back to them.
func (m *manager[M]) abandon(reason error) {
	m.mail.redirect(route{kind: toNobody})
	m.flush()
	m.collect()
	m.giveUp(reason)
}

// giveUp makes dead letters of what was told here and waits.
func (m *manager[M]) giveUp(reason error) {
	waiting := m.mail.drain()
	if m.reliable.out != nil {
		waiting = append(waiting, m.reliable.out.drain()...)
		m.reliable.out.pause()
	}
	for _, w := range waiting {
		m.deadLetter(w.Message, reason)
	}
}

func (m *manager[M]) overflowed(lost []waiting[M]) {
	for _, w := range lost {
		m.drop(w.Message)
	}
}

// drop makes a dead letter of what there is no room for.
func (m *manager[M]) drop(msg any) {
	m.status.Dropped++
	m.deadLetter(msg, ErrBufferFull)
	m.publish(Dropped{Name: m.name, Message: msg, Reason: ErrBufferFull})
}

func (m *manager[M]) deadLetter(msg any, reason error) {
	extension.DeadLetter(m.ctx.System(), m.ctx.Self().Path(), msg, reason)
}

// onBegun opens the way to an instance that has started.
func (m *manager[M]) onBegun(b instanceBegun) {
	if !m.instance.running || b.gen != m.instance.gen {
		return
	}
	m.instance.begun = true
	m.status.Starts++
	m.publish(Started{Name: m.name, Generation: m.machine.gen})
	m.begun()
	m.reroute()
	m.settle(time.Now())
}
