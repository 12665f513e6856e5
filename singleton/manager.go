package singleton

import (
	"cmp"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/inspect"
	"github.com/understudy-go/understudy/internal/peers"
	"github.com/understudy-go/understudy/internal/recall"
	"github.com/understudy-go/understudy/internal/singletons"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// A manager runs the hand-over protocol of one singleton on one node: it turns what happens into
// events, and carries out the actions that the protocol returns.
type manager struct {
	ctx       managerContext
	typed     typedContext
	name      string
	path      string
	set       settings
	machine   *handover.Machine
	relay     *handover.Relay
	sequenced sequenced
	lease     *managerLease
	instance  instance

	inbox    actor.ActorRef[any]
	post     singletons.Post
	link     *singletons.Link // nil without a cluster
	straight bool             // messages go to the instance without the manager
	forwards forwards         // to which host messages go without its hub
	timer    timer
	mismatch error
	absence  handover.Absence
	takeover takeover
	history  historyWriter
	registry *registry
	status   Status
	outage   time.Time // since when no instance runs, as far as this node knows
	failover peers.Failover

	forgotten bool  // the persistence id of the last instance was
	obstacle  error // why the journal keeps the instance from starting; nil if it is not known to
}

type occurred struct {
	extension.Quiet
	event handover.Event
}

// newManager returns the manager that is the actor of ctx; self is the text of its ref.
func newManager(ctx managerContext, typed typedContext, self actor.AnyRef, set settings) *manager {
	name := nameOf(self.Path())
	cfg := set.config(name)
	link := singletons.LinkOf(ctx.System())
	if link == nil && cfg.Anchor.Kind == handover.ByFunction {
		cfg.Anchor = handover.Anchor{} // without a cluster the function is not called
	}
	m := &manager{
		ctx: ctx, typed: typed, name: name, path: self.Path(), set: set, machine: handover.NewMachine(cfg),
		link: link, post: singletons.Post{System: ctx.System()}, registry: registryOf(ctx.System()), history: newHistoryWriter(ctx.System(), name),
		status: Status{Name: name, Phase: Pending, Since: time.Now(), Placement: cfg.Placement()},
	}
	m.failover, _ = extension.Get[peers.Failover](ctx.System())
	m.relay = handover.NewRelay(outlet{m}, m.machine, set.buffer)
	m.inbox = typed.inbox(m.onInbox)
	childRefused := typed.notify(m.onChildRefused)
	m.instance = instance{
		ctx: ctx, typed: typed, path: m.path + "/" + instanceName, stopMessage: set.stopMessage,
		hooks: tenure.Hooks{
			Claimed: func(_ tenure.Claim, started, raised tenure.Generation) {
				m.occur(handover.FenceHeld{Started: started, Raised: raised})
			},
			Refused: func(error) { childRefused() }, Quiet: true,
			Waits: func(path string, why error) { toldWhy(m, path, why) },
		},
		begins: func(g tenure.Generation) { m.inbox.Tell(instanceBegun{gen: g}) },
	}
	m.sequenced = newSequenced(m, typed.notify(func() { m.sequenced.collect() }))
	if m.lease = openLease(m, self.String()); m.lease != nil {
		m.instance.gate = m.lease.gate
	}
	m.timer.ring = func() { m.occur(handover.Ticked{}) }
	ctx.Defer(m.close)
	ctx.Defer(inspect.RegisterSingleton(ctx.System(), name, lookerOf(typed)))
	m.register(cfg)
	return m
}

func (m *manager) described(msg any) handover.Told {
	return handover.Told{Message: msg, Metadata: m.typed.metadata()}
}

// Any goroutine may call occur.
func (m *manager) occur(ev handover.Event) { m.inbox.Tell(occurred{event: ev}) }

// register makes the manager known to the hub, which makes it known to the cluster. Without a
// cluster this node is the only member.
func (m *manager) register(cfg handover.Config) {
	if m.link == nil {
		self := directory.Peer{
			ID: remote.NodeID{Incarnation: 1}, Up: true, Reachable: true, Name: cfg.Anchor.Node, Roles: []string{cfg.Role}, Advertisement: m.name,
		}
		m.happened(handover.Viewed{Topology: directory.Topology{Self: self.ID, Members: []directory.Peer{self}}})
		return
	}
	m.link.Register(directory.Advertise(m.name, cfg.Signature), m.typed.self(), m.inbox)
	m.report()
}

// close makes dead letters of the messages that wait. Messages of other nodes are returned to them.
func (m *manager) close() {
	m.relay.Close()
	m.sequenced.collect()
	m.giveUp(ErrManagerStopped)
	m.forgetGivenUp()
	m.timer.stop()
	m.takeover.finish(ErrManagerStopped)
	m.lease.close(m.ctx.Log())
	m.registry.erase(m.name)
	if m.link != nil {
		m.link.Unregister(m.name, m.machine.HighestTerm())
	}
}

func (m *manager) onSignal(sig actor.Signal) {
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

func (m *manager) onInstanceEnded(err error) {
	m.sequenced.collect()
	m.obstacle = nil
	ended, err := m.instance.ended(err)
	if err != nil {
		m.status.failed(err, time.Now())
	}
	if err == nil && ended.Fenced {
		m.ctx.Log().Info("singleton's journal has a later term; asking for one above it", zap.Uint64("term", ended.FencedBy))
	}
	m.publish(Stopped{Name: m.name, Generation: Generation(m.machine.Instance().Generation), Err: err})
	m.history.ended(ended, err, m.machine.Phase(), m.machine.Topology())
	m.absence.Begin(time.Now())
	m.takeover.finish(cmp.Or(err, errEndedEarly)) // unless it has taken messages
	m.happened(ended)
	if ended.Forgotten && handover.Rests(m.machine) {
		rest(m, err)
	}
}

func (m *manager) publish(event any) { m.ctx.System().Publish(event) }

// onInbox handles everything but messages to the singleton: those of the hub, the instance, the
// timer and the lease client.
func (m *manager) onInbox(msg any) {
	switch msg := msg.(type) {
	case wire.Message[wire.Deliver]:
		outlet{m}.onDeliver(msg)
	case singletons.Arrived:
		if told := m.described(msg.Body.Payload); msg.Header.From.Address == "" {
			outlet{m}.Take(told)
		} else {
			outlet{m}.onDeliver(msg.Message)
		}
		msg.Done() // it is with the instance, or the bypass is closed
	case wire.Any:
		m.onMessage(msg)
	case singletons.Viewed:
		m.onEvent(handover.Viewed{Topology: msg.Topology})
	case singletons.DrainAsked:
		m.onEvent(handover.DrainAsked{})
	case occurred:
		m.onEvent(msg.event)
	case instanceBegun:
		m.onBegun(msg)
	case instanceWaits:
		onWaits(m, msg.why)
	case sentAgain:
		m.sendAgain(msg)
	}
}

func (m *manager) onMessage(msg wire.Any) {
	from := msg.Head().From
	switch msg := msg.(type) {
	case wire.Message[wire.Return]:
		if content, ok := m.unpack(msg.Body.Payload); ok && m.refusing() {
			m.deadLetter(content, m.mismatch)
		} else if ok {
			m.relay.Returned(from, m.described(content))
		}
	case wire.Message[wire.Barrier]:
		m.relay.Barrier(from, msg.Body)
	case wire.Message[wire.Passed]:
		m.relay.Passed(from, msg.Body)
	case wire.Message[wire.Sequenced]:
		m.sequenced.onMessage(from, msg.Body)
		messageWaits(m)
		return
	case wire.Message[wire.Check]:
		m.sequenced.onCheck(from, msg.Body)
		return
	case wire.Message[wire.Ack]:
		m.sequenced.onAck(from, msg.Body)
		return
	case wire.Message[wire.Watermarks]:
		m.sequenced.receiver.Learn(msg.Body.Marks)
		return
	default:
		m.happened(handover.Received{Message: msg})
		return
	}
	m.settle(time.Now())
}

func (m *manager) onEvent(ev handover.Event) {
	log := m.ctx.Log()
	switch ev := ev.(type) {
	case handover.Viewed:
		m.sequenced.retry.Reset()
		outlet{m}.unfollowLeavers(&ev.Topology)
		m.relay.View(&ev.Topology)
	case handover.DrainAsked:
		m.relay.BeginDrain()
		m.sequenced.beginDrain()
	case handover.Ticked:
		m.expire(time.Now())
		m.sequenced.tick(time.Now())
		m.relay.Tick(time.Now())
	case handover.LeaseAnswered:
		if ev.Err != nil {
			log.Warn("attempt to acquire the lease failed", zap.Stringer("lease", m.lease), zap.Error(ev.Err))
		}
	case handover.LeaseLost:
		log.Warn("singleton's lease lost", zap.Stringer("lease", m.lease), zap.Error(ev.Reason))
	case handover.LeaseReleased:
		m.lease.logKept(log, ev.Err)
	case handover.TermClaimed:
		if ev.Err != nil {
			log.Warn("no term from the source of generations", zap.Error(ev.Err))
		}
	case handover.Received, handover.InstanceEnded, handover.FenceHeld, handover.MessageWaits:
	}
	m.happened(ev)
}

func (m *manager) happened(ev handover.Event) {
	now := time.Now()
	held := m.machine.Lease().Held
	actions := m.machine.Step(ev, now)
	m.absence.Observe(m.machine, now)
	m.traceTakeover()
	m.publishLease(held)
	for _, a := range actions {
		m.do(a)
	}
	m.checkMismatch()
	m.relay.Reroute()
	m.settle(now)
}

// publishLease publishes that the lease was acquired or lost. before says whether it was held.
func (m *manager) publishLease(before bool) {
	switch l := m.machine.Lease(); {
	case l.Held && !before:
		m.publish(LeaseAcquired{Name: m.name, Token: l.Token})
	case before && !l.Held && !l.Releasing:
		m.status.LeaseLosses++
		m.publish(LeaseLost{Name: m.name, Reason: l.Obstacle})
		m.history.lostLease(l.Obstacle)
	}
}

func (m *manager) settle(now time.Time) {
	m.updateBypass()
	m.relay.Plan(now)
	m.sequenced.plan(now)
	if m.relay.Drained(now) && m.sequenced.drained() {
		m.relay.EndDrain()
		m.link.Drained(m.name)
	}
	m.timer.set(now, recall.Earliest(m.machine.Wake(), m.relay.Wake(), m.sequenced.retry.At(), m.nextExpiry()))
	m.report()
}

func (m *manager) do(a handover.Action) {
	switch a := a.(type) {
	case handover.Send:
		if _, grants := a.Message.(wire.Message[wire.Grant]); grants {
			m.sequenced.sendWatermarks(a.Message.Head().To)
		}
		m.post.Send(a.Message.Head().To, a.Message)
	case handover.ReportStuck:
		m.reportStuck(a)
	case handover.StartInstance:
		if m.lease.missing() { // it was lost at this very moment
			m.occur(handover.InstanceEnded{LeaseLost: true})
			return
		}
		m.ctx.Log().Info("singleton starts here", zap.Stringer("generation", a.Generation))
		m.instance.start(a.Generation)
	case handover.StopInstance:
		m.ctx.Log().Info("singleton stops here", zap.Stringer("generation", m.machine.Instance().Generation), zap.Bool("at_once", a.AtOnce))
		m.setStraight(false)
		m.instance.stop(a.AtOnce)
	case handover.SaveRecord:
		if m.link != nil {
			m.link.Note(func(d *directory.Directory) { d.SetRecord(m.name, a.Record) })
		}
	case handover.AcquireLease:
		m.lease.acquire(m.takeover.around(m.ctx), a)
	case handover.ReleaseLease:
		m.lease.release()
	case handover.ClaimTerm:
		claimTerm(m.ctx, m.set.terms, m.name, a, m.occur)
	}
}

func (m *manager) reportStuck(a handover.ReportStuck) {
	fields := []zap.Field{zap.String("host", a.Host.Address), zap.Time("told to stop", a.Since), zap.Time("given up", a.Until)}
	if a.Host == m.machine.Topology().Self {
		m.ctx.Log().Error("singleton's instance does not end: its handler does not return", fields...)
	} else {
		m.ctx.Log().Warn("singleton waits for an instance that does not end", fields...)
	}
	m.publish(Stuck{Name: m.name, Host: a.Host.Address, Since: a.Since, Until: a.Until})
	m.history.stuck(m.machine.Topology(), a.Host)
}

func (m *manager) report() {
	s := &m.status
	if phase := Phase(m.machine.Phase()); s.Phase != phase {
		s.Phase, s.Since = phase, time.Now()
		m.ctx.Log().Debug("singleton manager", zap.String("phase", string(phase)))
		if phase == Ended {
			m.publish(Retired{m.name})
		}
	}
	r := m.machine.Report(m.instance.begun)
	if s.Host != r.Host.ID.Address {
		m.publish(HostChanged{Name: m.name, Host: r.Host.ID.Address})
	}
	m.history.hostIs(r.Host, m.machine.Topology(), s.Placement, r.Why)
	s.Host, s.Here, s.Stuck, s.Why = r.Host.ID.Address, r.Here, r.StuckSince, r.Why
	s.RestartsInARow, s.wellAt = r.RestartsInARow, r.WellAt
	if s.Phase == Host && s.Why != "" && s.RestartsInARow > 0 && s.LastError != nil {
		s.Why = fmt.Sprintf("%s; restart %d in a row, the last failure: %v", s.Why, s.RestartsInARow, s.LastError)
	}
	s.Generation = Generation(m.machine.Instance().Generation)
	s.Held, s.Kept, s.Closed = m.relay.Waiting(), m.relay.Kept(), m.relay.Recalling()
	s.waits = s.Held > 0
	if out := m.sequenced.out; out != nil {
		s.waits = s.waits || (!out.Going() || m.sequenced.untaken) && out.Open() > 0
		s.Held, s.Unacknowledged = s.Held+out.Held(), out.Open()
	}
	if s.obstacle() == "" {
		m.outage = time.Time{}
	} else if m.outage.IsZero() {
		m.outage = time.Now()
	}
	s.cause = causeOf(m)
	s.outage = m.failover.Since(m.outage, m.machine.Topology().Record.Fenced)
	s.WaitingFor, s.NotBefore = nil, r.NotBefore
	for _, id := range r.WaitingFor {
		s.WaitingFor = append(s.WaitingFor, id.Address)
	}
	l := m.machine.Lease()
	s.LeaseHeld, s.Obstacle = m.lease != nil && l.Held, l.Obstacle
	if m.lease != nil {
		s.Lease = m.lease.String()
	}
	m.registry.write(*s)
}

func (m *manager) take(d handover.Told) {
	switch {
	case m.machine.Phase() == handover.Ended:
		m.deadLetter(d.Message, ErrFinished)
	case m.refusing():
		m.deadLetter(d.Message, m.mismatch)
	case m.sequenced.out != nil:
		m.sequenced.take(d)
		messageWaits(m)
	case m.relay.Take(d):
		m.awaitExpiry()
		m.report()
		messageWaits(m)
	}
}

// updateBypass lets messages of this node and of others go straight to the instance while the
// manager would only pass them on.
func (m *manager) updateBypass() {
	m.setStraight(m.sequenced.out == nil && m.relay.Here() && !m.relay.Returning())
}

func (m *manager) setStraight(on bool) {
	if m.straight != on {
		m.straight = on
		m.typed.straight(on)
	}
}

func (m *manager) onBegun(b instanceBegun) {
	if !m.instance.running || b.gen != m.instance.gen {
		return
	}
	m.instance.begun, m.forgotten, m.obstacle = true, false, nil
	m.history.started(m.machine.Topology(), m.absence.Takeover(), int(m.status.Starts+m.status.Failures))
	m.status.Starts++
	m.registry.measured.began(m.absence.Over(time.Now()))
	m.takeover.finish(nil)
	m.publish(Started{Name: m.name, Generation: Generation(m.machine.Instance().Generation)})
	m.sequenced.instanceBegun()
	m.relay.Reroute()
	m.settle(time.Now())
}

// onChildRefused ends an instance one of whose actors cannot claim its persistence id, because a
// later term has claimed it. The next instance has a term above that one.
func (m *manager) onChildRefused() {
	if !m.instance.running {
		return
	}
	if _, failure := m.instance.tenure.Outcome(); failure != nil { // else it was the instance before
		m.instance.stop(true)
	}
}

// checkMismatch notes whether this node's manager has the settings that count. If not, waiting
// messages become dead letters. While an instance runs here, messages still go to it.
func (m *manager) checkMismatch() {
	differences, reference, mismatch := m.machine.Mismatch()
	switch {
	case !mismatch && m.mismatch != nil:
		m.mismatch = nil
		m.ctx.Log().Info("singleton's settings match again")
	case mismatch && (m.mismatch == nil || m.status.Mismatch != differences):
		m.mismatch = fmt.Errorf("%w: %s, on %s; give the same type and options on every node", ErrMismatch, differences, reference.ID.Address)
		m.ctx.Log().Error("singleton's settings differ from those of other nodes; it takes no part", zap.Error(m.mismatch))
	}
	m.status.Mismatch = differences
	if m.refusing() {
		for _, w := range m.relay.Drain() {
			m.deadLetter(w.Message, m.mismatch)
		}
	}
}

func (m *manager) refusing() bool { return m.mismatch != nil && !m.machine.Instance().Running }

func (m *manager) giveUp(reason error) {
	waiting := m.relay.Drain()
	if out := m.sequenced.out; out != nil {
		waiting = append(waiting, out.Drain()...)
		out.Pause()
	}
	for _, w := range waiting {
		m.deadLetter(w.Message, reason)
	}
}

func (m *manager) deadLetter(msg any, reason error) {
	extension.DeadLetter(m.ctx.System(), m.path, msg, reason)
}
