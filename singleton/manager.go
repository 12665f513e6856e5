package singleton

import (
	"maps"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/node"
)

// A manager runs the machine and the mail of one singleton on one node: it turns what
// happens into events, and does what they answer.
type manager[M any] struct {
	ctx     *actor.Context[M]
	name    string
	machine *machine
	mail    mail[waiting[M]]
	guests  guests
	inbox   actor.ActorRef[any]
	post    post
	office  *office // nil without a cluster

	reliable  reliable[M]
	instance  instance[M]
	onMessage actor.MessageHandler[M] // the manager's own
	straight  actor.ActorRef[M]       // the instance that is told without the manager; zero for none
	keeping   keeping
	alarm     alarm
	look      look
	draining  bool    // the hub wants to know when no instance runs here
	hosted    node.ID // the incarnation of this node to which others may have sent messages
	farewell  farewell
	goodbyes  look
	parted    map[node.ID]bool   // who has said farewell
	settlers  map[node.ID]uint64 // who waits until nothing of theirs waits here
	mismatch  error
	board     *board
	status    Status
}

func newManager[M any](ctx *actor.Context[M], factory func() actor.Behavior[M], set settings) *manager[M] {
	name := nameOf(ctx.Self().Path())
	m := &manager[M]{
		ctx: ctx, name: name, machine: newMachine(name, set),
		mail: mail[waiting[M]]{limit: set.buffer}, guests: guests{limit: set.buffer},
		post: post{system: ctx.System()}, board: boardOf(ctx.System()),
		status: Status{Name: name, Phase: Pending, Since: time.Now(), Placement: set.placement()},
	}
	m.onMessage = func(_ *actor.Context[M], msg M) actor.Behavior[M] {
		m.take(msg)
		return nil
	}
	m.inbox = extension.Handle(ctx, func(msg any) actor.Behavior[M] {
		m.onInbox(msg)
		return nil
	})
	m.instance = instance[M]{
		ctx: ctx, factory: factory, stopMessage: set.stopMessage,
		fenced: func(f fenceHeld) { m.inbox.Tell(f) }, begins: func(g Generation) { m.inbox.Tell(instanceBegun{g}) },
	}
	m.reliable = newReliable[M](set, ctx.Notify(func() actor.Behavior[M] {
		m.collect()
		return nil
	}))
	m.keeping = keeping{ctx: ctx, lease: set.lease, source: set.source, answer: func(ev event) { m.inbox.Tell(ev) }}
	m.keeping.open(ctx.Self().String())
	ctx.Defer(extension.OnHalt(ctx.System(), m.keeping.halt))
	m.instance.gate = m.keeping.gate()
	m.alarm.ring = func() { m.inbox.Tell(ticked{}) }
	ctx.Defer(m.close)
	m.register()
	return m
}

// register makes the manager known to the hub, and by it to the cluster; without one this
// node is all there is.
func (m *manager[M]) register() {
	o, clustered := extension.Get[*office](m.ctx.System())
	if !clustered {
		if m.machine.set.anchor.kind == byFunction {
			m.machine.set.anchor = anchor{}
		}
		self := Peer{ID: node.ID{Incarnation: 1}, Up: true, Reachable: true, Name: m.machine.set.anchor.node, Roles: []string{m.machine.set.role}, offered: m.name}
		m.happened(viewed{Topology{Self: self.ID, Members: []Peer{self}}})
		return
	}
	m.office = o
	m.office.hub.Tell(registered{offer: offer(m.name, m.machine.set.signature), inbox: m.inbox})
	m.report()
}

// close gives up what waits; what other nodes have sent goes back to them.
func (m *manager[M]) close() {
	m.abandon(ErrManagerStopped)
	m.alarm.off()
	m.keeping.close(m.ctx.Log())
	m.board.erase(m.name)
	if m.office != nil {
		m.office.hub.Tell(unregistered{name: m.name, taken: m.machine.highestTerm()})
	}
}

func (m *manager[M]) onSignal(sig actor.Signal) {
	switch sig := sig.(type) {
	case actor.Terminated:
		m.onInstanceEnded(nil)
	case actor.ChildFailed:
		m.onInstanceEnded(sig.Err)
	case actor.AdaptFailed:
		panic(sig.Err)
	case actor.PreRestart, actor.PostStop:
	}
}

func (m *manager[M]) onInstanceEnded(err error) {
	m.collect()
	if err != nil {
		m.status.failed(err, time.Now())
	}
	m.publish(Stopped{Name: m.name, Generation: m.machine.gen, Err: err})
	m.happened(m.instance.ended(err))
}

func (m *manager[M]) publish(event any) { m.ctx.System().Publish(event) }

// publishLease says whether the lease was acquired or lost, given whether it was held before.
func (m *manager[M]) publishLease(held bool) {
	switch a := m.machine.outside; {
	case a.held && !held:
		m.publish(LeaseAcquired{Name: m.name, Token: a.token})
	case held && !a.held && !a.releasing:
		m.publish(LeaseLost{Name: m.name, Reason: a.obstacle})
	}
}

// onInbox takes everything that is not told to the singleton: from the hub, from the
// instance, from the timer.
func (m *manager[M]) onInbox(msg any) {
	switch msg := msg.(type) {
	case wireDeliver:
		m.onDeliver(msg.From, msg.Payload)
	case wireGiveBack:
		m.onGiveBack(msg)
	case wireRecall:
		m.onRecall(msg)
	case wireRecalled:
		m.onRecalled(msg)
	case wireFarewell:
		m.onFarewell(msg)
	case wireFarewellHeard:
		m.farewell.heard(msg.From)
		m.settle(time.Now())
	case wireSettle:
		m.onSettle(msg)
	case wireSettled:
		m.farewell.settled(msg.Number)
		m.settle(time.Now())
	case viewed:
		m.look.views()
		m.reliable.checks.views()
		maps.DeleteFunc(m.parted, func(id node.ID, _ bool) bool {
			_, member := msg.topo.member(id)
			return !member
		})
		m.guests.view(&m.machine.topo, &msg.topo)
		m.happened(msg)
	case drainAsked:
		m.draining, m.farewell = true, farewell{}
		if out := m.reliable.out; out != nil {
			m.reliable.lastTold = out.last()
		}
		m.happened(msg)
	case instanceEnded:
		m.happened(msg)
	case ticked:
		m.expire(time.Now())
		m.lookAfterMail(time.Now())
		m.lookAfterFarewell(time.Now())
		m.happened(msg)
	case fenceHeld:
		m.happened(msg)
	case leaseAnswered:
		if msg.err != nil {
			m.ctx.Log().Warn("nobody knows whether the lease was acquired", zap.Stringer("lease", m.keeping.lease), zap.Error(msg.err))
		}
		m.happened(msg)
	case leaseLost:
		m.onLeaseLost(msg)
	case leaseReleased:
		if msg.err != nil {
			m.ctx.Log().Warn("lease not given back; it has to expire", zap.Stringer("lease", m.keeping.lease), zap.Error(msg.err))
		}
		m.happened(msg)
	case claimed:
		if msg.err != nil {
			m.ctx.Log().Warn("no term from the source of generations", zap.Error(msg.err))
		}
		m.happened(msg)
	case instanceBegun:
		m.onBegun(msg)
	case wireTold:
		m.onTold(msg)
	case wireCheck:
		m.onCheck(msg)
	case wireAck:
		m.onAck(msg)
	case wireMarks:
		m.reliable.intake.learn(msg.Marks)
	case wireRequest:
		m.happened(requested{from: msg.From, attempt: msg.Attempt, term: msg.Term})
	case wireHeldUp:
		m.onHeldUp(msg)
	case wireGrant:
		m.happened(granted{from: msg.From, attempt: msg.Attempt, record: msg.Record, taken: msg.Taken})
	}
}

// happened runs the machine, does what it says, and brings the mail up to date.
func (m *manager[M]) happened(ev event) {
	now, held := time.Now(), m.machine.outside.held
	actions := m.machine.step(ev, now)
	m.publishLease(held)
	for _, a := range actions {
		m.do(a)
	}
	m.checkFit()
	m.reroute()
	m.settle(now)
}

// onHeldUp says once for each ask that another node cannot let this one host.
func (m *manager[M]) onHeldUp(w wireHeldUp) {
	now, before := time.Now(), len(m.machine.heldUps)
	h := heldUp{from: w.From, attempt: w.Attempt, since: now.Add(-w.Since), until: now.Add(w.Until)}
	m.happened(h)
	if len(m.machine.heldUps) > before {
		m.ctx.Log().Warn("singleton waits for an instance that does not end", zap.String("host", h.from.Address), zap.Time("told to stop", h.since), zap.Time("given up", h.until))
		m.publish(Stuck{Name: m.name, Host: h.from.Address, Since: h.since, Until: h.until})
	}
}

// settle says how things are, and wakes the manager when they may change by themselves.
func (m *manager[M]) settle(now time.Time) {
	m.straighten()
	m.look.plan(now, m.mail.closed || m.mail.refused)
	m.reliable.checks.plan(now, m.checkDue())
	m.takeLeave(now)
	m.alarm.set(now, m.machine.wake(), m.look.at, m.reliable.checks.at, m.goodbyes.at, m.nextExpiry())
	m.report()
}

func (m *manager[M]) do(a action) {
	self := m.machine.topo.Self
	switch a := a.(type) {
	case sendRequest:
		m.post.send(a.to, wireRequest{Name: m.name, From: self, To: a.to, Attempt: a.attempt, Term: a.term})
	case sendGrant:
		m.sendMarks(a.to)
		m.post.send(a.to, wireGrant{Name: m.name, From: self, To: a.to, Attempt: a.attempt, Record: a.record, Taken: a.taken})
	case sendHeldUp:
		now := time.Now()
		m.post.send(a.to, wireHeldUp{Name: m.name, From: self, To: a.to, Attempt: a.attempt, Since: now.Sub(a.since), Until: a.until.Sub(now)})
	case reportStuck:
		m.ctx.Log().Error("singleton's instance does not end: its handler does not return", zap.Time("told to stop", a.since), zap.Time("given up", a.until))
		m.publish(Stuck{Name: m.name, Host: self.Address, Since: a.since, Until: a.until})
	case startInstance:
		m.start(a.gen)
	case stopInstance:
		m.ctx.Log().Info("singleton stops here", zap.Stringer("generation", m.machine.gen), zap.Bool("at_once", a.now))
		m.goStraightTo(actor.ActorRef[M]{})
		m.instance.stop(a.now)
	case saveRecord:
		if m.office != nil {
			m.office.hub.Tell(recorded{name: m.name, record: a.record})
		}
	case acquireLease:
		m.keeping.acquire(a)
	case releaseLease:
		m.keeping.release()
	case claimTerm:
		m.keeping.claim(m.name, a)
	}
}

// start starts an instance, but where the lease has been lost this very moment.
func (m *manager[M]) start(gen Generation) {
	if !m.keeping.valid() {
		m.inbox.Tell(instanceEnded{leaseLost: true})
		return
	}
	m.ctx.Log().Info("singleton starts here", zap.Stringer("generation", gen))
	m.instance.start(gen)
}

// onLeaseLost passes on that the lease was lost, unless it has been acquired again since.
func (m *manager[M]) onLeaseLost(lost leaseLost) {
	if m.keeping.valid() {
		return
	}
	m.ctx.Log().Warn("singleton's lease lost", zap.Stringer("lease", m.keeping.lease), zap.Error(lost.reason))
	m.happened(lost)
}

// report puts what is known on the board.
func (m *manager[M]) report() {
	s := &m.status
	if s.Phase != m.machine.phase {
		s.Phase, s.Since = m.machine.phase, time.Now()
		m.ctx.Log().Debug("singleton manager", zap.String("phase", string(s.Phase)))
		if s.Phase == Ended {
			m.publish(Retired{m.name})
		}
	}
	host, _ := m.machine.host()
	if s.Host != host.ID.Address {
		m.publish(HostChanged{Name: m.name, Host: host.ID.Address})
	}
	s.Host, s.Here = host.ID.Address, m.machine.occupied()
	s.Stuck = time.Time{}
	if m.machine.stopping.step >= stuck {
		s.Stuck = m.machine.stopping.since
	}
	s.Why = m.machine.why(m.instance.begun)
	s.reportFailing(m.machine)
	s.Generation = m.machine.gen
	s.Held, s.Kept, s.Closed = m.mail.size()+m.guests.size(), m.mail.kept, m.mail.closed
	if out := m.reliable.out; out != nil {
		s.Held, s.Unacknowledged = s.Held+out.held.Len(), out.open.Len()
	}
	s.WaitingFor, s.NotBefore = nil, time.Time{}
	if m.machine.phase == Asking {
		for _, id := range m.machine.missing() {
			s.WaitingFor = append(s.WaitingFor, id.Address)
		}
		s.NotBefore = m.machine.notBefore()
	}
	s.Lease, s.LeaseHeld = m.keeping.name(), m.keeping.lease != nil && m.machine.outside.held
	s.Obstacle = m.machine.outside.obstacle
	if m.machine.phase == Acquiring {
		s.NotBefore = m.machine.outside.retryAt
	}
	m.board.write(*s)
}
