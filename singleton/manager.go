package singleton

import (
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
)

// A manager runs the machine and the mail of one singleton on one node: it turns what
// happens into events, and does what they answer.
type manager[M any] struct {
	ctx     *actor.Context[M]
	name    string
	set     settings
	machine *machine
	mail    mail[M]
	inbox   actor.ActorRef[any]
	post    post
	locator Locator // nil without a cluster

	instance instance[M]
	last     PeerID     // the node that was sent something last
	parked   []entry[M] // forwarded too often: views differ, wait a moment
	timer    *time.Timer
	drains   []func()
	board    *board
	status   Status
}

func newManager[M any](ctx *actor.Context[M], factory func() actor.Behavior[M], set settings) *manager[M] {
	name := nameOf(ctx.Self().Path())
	m := &manager[M]{
		ctx: ctx, name: name, set: set, machine: newMachine(name, set), mail: mail[M]{limit: set.buffer},
		post: post{ctx.System()}, board: boardOf(ctx.System()),
		status: Status{Name: name, Phase: Pending, Since: time.Now()},
	}
	m.inbox = actor.Handle(ctx, m.onInbox)
	m.instance = instance[M]{ctx: ctx, factory: factory, stopMessage: set.stopMessage, fenced: func(g Generation) { m.inbox.Tell(fenceOf{g}) }}
	m.timer = time.AfterFunc(time.Hour, func() { m.inbox.Tell(ticked{}) })
	ctx.Defer(m.close)
	m.register()
	return m
}

// register makes the manager known to the hub; without one, this node is all there is.
func (m *manager[M]) register() {
	o, ok := actor.Extension[office](m.ctx.System())
	if !ok {
		self := Peer{ID: PeerID{Incarnation: 1}, Up: true, Reachable: true, Roles: []string{m.set.role}, Offers: []string{m.name}}
		m.happened(viewed{Topology{Self: self.ID, Members: []Peer{self}}})
		return
	}
	m.locator = o.locator
	m.locator.Offer(m.name)
	o.hub.Tell(registered{name: m.name, inbox: m.inbox})
	m.report()
}

// close gives up what waits.
func (m *manager[M]) close() {
	m.timer.Stop()
	for _, e := range append(m.mail.drain(), m.parked...) {
		m.deadLetter(e, ErrManagerStopped)
	}
	for _, done := range m.drains {
		done()
	}
	m.board.erase(m.name)
	if o, ok := actor.Extension[office](m.ctx.System()); ok {
		o.hub.Tell(unregistered{m.name})
	}
}

// receive takes what is told to the singleton on this node.
func (m *manager[M]) receive(_ *actor.Context[M], msg M) actor.Behavior[M] {
	m.take(entry[M]{msg: msg})
	return nil
}

func (m *manager[M]) signal(_ *actor.Context[M], sig actor.Signal) actor.Behavior[M] {
	switch sig := sig.(type) {
	case actor.Terminated:
		m.happened(m.instance.ended(nil))
	case actor.ChildFailed:
		m.happened(m.instance.ended(sig.Err))
	case actor.PreRestart, actor.PostStop:
	}
	return nil
}

// fenceOf says that the instance of that generation fences its writes.
type fenceOf struct{ gen Generation }

// onInbox takes everything that is not told to the singleton: from the hub, from the
// instance, from the timer.
func (m *manager[M]) onInbox(msg any) actor.Behavior[M] {
	switch msg := msg.(type) {
	case fenceOf:
		if m.machine.alive && msg.gen == m.machine.gen {
			m.happened(fenceHeld{})
		}
	case drain:
		m.drains = append(m.drains, msg.done)
		m.happened(drainAsked{})
	case event:
		m.happened(msg)
	case wireRequest:
		m.happened(requested{from: msg.From, attempt: msg.Attempt})
	case wireGrant:
		m.happened(granted{from: msg.From, attempt: msg.Attempt, record: msg.Record})
	case wireDeliver:
		m.onDeliver(msg)
	case wireMarker:
		m.onMarker(msg)
	case wireArrived:
		m.onArrived(msg.Number)
	}
	return nil
}

// happened runs the machine, does what it says, and brings the mail up to date.
func (m *manager[M]) happened(ev event) {
	now := time.Now()
	for _, a := range m.machine.step(ev, now) {
		m.do(a)
	}
	if _, tick := ev.(ticked); tick {
		m.unpark()
		m.remark()
	}
	m.reroute()
	m.rearm(now)
	m.report()
	m.drained()
}

func (m *manager[M]) do(a action) {
	self := m.machine.topo.Self
	switch a := a.(type) {
	case sendRequest:
		m.post.send(a.to, wireRequest{Name: m.name, From: self, To: a.to, Attempt: a.attempt})
	case sendGrant:
		m.post.send(a.to, wireGrant{Name: m.name, From: self, To: a.to, Attempt: a.attempt, Record: a.record})
	case startInstance:
		m.ctx.Log().Info("singleton starts here", zap.Stringer("generation", a.gen))
		m.instance.start(a.gen)
	case stopInstance:
		m.ctx.Log().Info("singleton stops here", zap.Stringer("generation", m.machine.gen), zap.Bool("now", a.now))
		m.instance.stop(a.now)
	case saveRecord:
		if m.locator != nil {
			m.locator.Record(m.name, a.record)
		}
	}
}

// drained tells those who wait that no instance runs here.
func (m *manager[M]) drained() {
	if m.machine.alive || m.machine.phase == Host {
		return
	}
	for _, done := range m.drains {
		done()
	}
	m.drains = nil
}

// patience is how long a marker, or a message that went in circles, waits.
const patience = 200 * time.Millisecond

// rearm sets the timer to what comes next.
func (m *manager[M]) rearm(now time.Time) {
	at := m.machine.wake()
	if len(m.parked) > 0 || m.mail.gate != nil {
		if soon := now.Add(patience); at.IsZero() || soon.Before(at) {
			at = soon
		}
	}
	if at.IsZero() {
		m.timer.Stop()
		return
	}
	m.timer.Reset(max(0, at.Sub(now)))
}

// report puts what is known on the board.
func (m *manager[M]) report() {
	s := &m.status
	if s.Phase != m.machine.phase {
		s.Phase, s.Since = m.machine.phase, time.Now()
		m.ctx.Log().Debug("singleton manager", zap.String("phase", string(s.Phase)))
	}
	host, _ := m.machine.host()
	s.Host, s.Here = host.ID.Address, m.machine.alive
	s.Generation = m.machine.gen
	s.Held, s.Kept, s.Closed = m.mail.count, m.mail.kept, m.mail.gate != nil
	s.WaitingFor, s.NotBefore = nil, time.Time{}
	if m.machine.phase == Asking {
		for _, id := range m.machine.missing() {
			s.WaitingFor = append(s.WaitingFor, id.Address)
		}
		s.NotBefore = m.machine.notBefore()
	}
	m.board.write(*s)
}
