package singleton

import (
	"github.com/understudy-go/understudy/actor"
)

// maxHops is how often a message is forwarded before it waits for views to agree.
const maxHops = 4

// take lets e pass or keeps it.
func (m *manager[M]) take(e entry[M]) {
	pass, over := m.mail.accept(e)
	if pass {
		m.send(e)
	} else {
		m.report()
	}
	for _, lost := range over {
		m.deadLetter(lost, ErrBufferFull)
	}
}

// send takes e along the route.
func (m *manager[M]) send(e entry[M]) {
	if m.mail.route.kind == toInstance {
		m.hand(e)
		return
	}
	if e.hops >= maxHops {
		e.hops = 0
		m.parked = append(m.parked, e)
		m.timer.Reset(patience)
		return
	}
	m.forward(e, m.mail.route.peer)
}

// hand gives e to the instance.
func (m *manager[M]) hand(e entry[M]) {
	if e.marker == nil {
		m.instance.ref.Tell(e.msg)
		return
	}
	m.post.send(e.marker.Origin, wireArrived{Name: m.name, To: e.marker.Origin, Number: e.marker.Number})
}

// forward sends e to the manager of another node.
func (m *manager[M]) forward(e entry[M], to PeerID) {
	self := m.machine.topo.Self
	m.last = to
	if e.marker != nil {
		m.post.send(to, wireMarker{Name: m.name, From: self, Hops: e.hops + 1, Origin: e.marker.Origin, Number: e.marker.Number})
		return
	}
	payload, err := actor.Pack(e.msg)
	if err != nil {
		m.ctx.Log().Warn(err.Error())
		m.deadLetter(e, err)
		return
	}
	m.post.send(to, wireDeliver{Name: m.name, From: self, Hops: e.hops + 1, Payload: payload})
}

// onDeliver takes a message that another node has forwarded.
func (m *manager[M]) onDeliver(d wireDeliver) {
	v, err := d.Payload.Unpack(m.ctx.System())
	if err != nil {
		m.ctx.Log().Warn(err.Error())
		m.ctx.System().DeadLetter(m.ctx.Self().Path(), d.Payload, err)
		return
	}
	msg, ok := v.(M)
	if !ok {
		m.ctx.System().DeadLetter(m.ctx.Self().Path(), v, actor.ErrWrongType)
		return
	}
	m.take(entry[M]{msg: msg, from: d.From, hops: d.Hops})
}

// onMarker passes a marker on, behind what came before it. One of our own has made its
// way.
func (m *manager[M]) onMarker(w wireMarker) {
	if w.Origin == m.machine.topo.Self {
		m.onArrived(w.Number)
		return
	}
	m.take(entry[M]{from: w.From, hops: w.Hops, marker: &marker{Origin: w.Origin, Number: w.Number}})
}

func (m *manager[M]) onArrived(number uint64) {
	if m.mail.arrived(number) {
		m.flush()
		m.report()
	}
}

// reroute follows the machine: where do messages go now?
func (m *manager[M]) reroute() {
	r := m.route()
	_, member := m.machine.topo.member(m.last)
	if m.mail.redirect(r, m.last, member) {
		m.last = PeerID{}
		m.remark()
	}
	if g := m.mail.gate; g != nil {
		if _, member := m.machine.topo.member(g.peer); !member {
			m.mail.arrived(g.number)
		}
	}
	m.flush()
}

func (m *manager[M]) route() route {
	switch m.machine.phase {
	case Host:
		if m.machine.alive {
			return route{kind: toInstance}
		}
	case Standby:
		if h, ok := m.machine.host(); ok && h.Reachable {
			return route{kind: toPeer, peer: h.ID}
		}
	case Pending, Asking, HandingOver, Stopping:
	}
	return route{}
}

// remark sends the marker of a closed gate, or sends it again. It may arrive twice.
func (m *manager[M]) remark() {
	if g := m.mail.gate; g != nil {
		self := m.machine.topo.Self
		m.post.send(g.peer, wireMarker{Name: m.name, From: self, Origin: self, Number: g.number})
	}
}

func (m *manager[M]) flush() {
	for _, e := range m.mail.flush() {
		m.send(e)
	}
}

// unpark takes what went in circles once more.
func (m *manager[M]) unpark() {
	again := m.parked
	m.parked = nil
	for _, e := range again {
		m.take(e)
	}
}

func (m *manager[M]) deadLetter(e entry[M], reason error) {
	m.ctx.System().DeadLetter(m.ctx.Self().Path(), e.msg, reason)
}
