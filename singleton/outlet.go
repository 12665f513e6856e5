package singleton

import (
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/peers"
	"github.com/understudy-go/understudy/internal/protocol"
	"github.com/understudy-go/understudy/internal/recall"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// An outlet carries out the decisions of a manager's relay.
type outlet struct{ *manager }

func (o outlet) Send(to remote.NodeID, msg wire.Any, m extension.Metadata) {
	o.post.SendWith(to, msg, m)
}

// forwards says whether a host takes messages without its hub. A node must not change between both
// ways while messages of its own may be there: later ones would overtake them.
type forwards struct {
	host     remote.NodeID // the last one
	straight bool
}

// Forward implements handover.Outlet. Only members that are up are known to all others.
func (o outlet) Forward(to remote.NodeID, d handover.Told) bool {
	topo := o.machine.Topology()
	if o.forwards.host != to {
		self, _ := topo.Member(topo.Self)
		o.forwards = forwards{to, self.Up && peers.Have(o.ctx.System(), to, protocol.Straight)}
	}
	if !o.forwards.straight {
		return false
	}
	if d, ok := o.decoded(d); ok {
		o.post.SendStraight(topo.Self, to, o.name, d)
	}
	return true
}

// Follow implements handover.Outlet. A host that leaves passes on what it has.
func (o outlet) Follow(to remote.NodeID, msg any) {
	if !o.machine.Topology().Leaves(to) {
		extension.Follow(o.post.HubOf(to), msg)
	}
}

func (o outlet) unfollowLeavers(next *directory.Topology) {
	for _, peer := range next.Members {
		if peer.Leaves && !o.machine.Topology().Leaves(peer.ID) {
			extension.Unfollow(o.post.HubOf(peer.ID))
		}
	}
}

func (o outlet) Deliver(d handover.Told) {
	if d, ok := o.decoded(d); ok {
		o.typed.tell(d)
	}
}

func (o outlet) onDeliver(msg wire.Message[wire.Deliver]) {
	if o.relay.Deliver(msg.Header.From, o.described(msg.Body.Payload)) {
		o.awaitExpiry()
		o.report()
		o.explain(msg.Body.Payload)
		messageWaits(o.manager)
	}
}

func (o outlet) Ready() bool { return o.instance.begun }

func (o outlet) Take(d handover.Told) {
	if d, ok := o.decoded(d); ok {
		o.take(d)
	}
}

func (o outlet) Hold(d handover.Told) handover.Waiting { return o.hold(d) }

// Pass implements handover.Outlet. The ask keeps the reason that it was told: if it ends soon,
// that wait took most of its time.
func (o outlet) Pass(w handover.Waiting) bool { return o.passes(w) }

func (o outlet) Until() time.Time { return o.set.expiry(time.Now()) }

func (o outlet) Overflow(msg any) {
	if d, ok := o.decoded(handover.Told{Message: msg}); ok {
		o.drop(d.Message)
	}
}

func (o outlet) BeforeDrain(host remote.NodeID) { o.sequenced.sendWatermarks(host) }

func (o outlet) Rerouted() {
	o.sequenced.aim()
	if o.machine.Phase() == handover.Ended {
		o.giveUp(ErrFinished)
	}
}

func (o outlet) Pack(msg any) (extension.Payload, bool) {
	if p, packed := msg.(extension.Payload); packed {
		return p, true
	}
	p, err := extension.PackMessage(msg)
	if err != nil {
		o.deadLetter(msg, err)
	}
	return p, err == nil
}

// decoded decodes the message of d if it is one of another node. If that fails, it becomes a dead
// letter.
func (o outlet) decoded(d handover.Told) (handover.Told, bool) {
	p, packed := d.Message.(extension.Payload)
	if !packed {
		return d, true
	}
	msg, ok := o.unpack(p)
	return handover.Told{Message: msg, Metadata: d.Metadata}, ok
}

// unpack decodes a message of another node. A message that cannot be decoded becomes a dead letter.
func (m *manager) unpack(p extension.Payload) (msg any, ok bool) {
	msg, err := m.decode(p)
	return msg, err == nil
}

func (m *manager) decode(p extension.Payload) (msg any, err error) {
	if msg, err = m.typed.unpack(p); err != nil {
		m.deadLetter(msg, err)
	}
	return msg, err
}

// hold notes that a message begins to wait. Without room for it, requests of asks that have ended
// give way first.
func (m *manager) hold(d handover.Told) handover.Waiting {
	ended := func(w handover.Waiting) bool { return w.Withdrawn() }
	gone := m.relay.Sweep(ended)
	if m.sequenced.out != nil {
		gone = append(gone, m.sequenced.out.Sweep(ended)...)
	}
	for _, w := range gone {
		m.withdraw(w.Message, actor.ErrWithdrawn)
	}
	if d.Metadata.Request() != nil {
		extension.FollowNobody(m.ctx.System(), d.Message) // it may have been on another node
	}
	w := handover.Waiting{Described: d.Hold(), Until: m.set.expiry(time.Now())}
	if q := &m.sequenced; q.out == nil || !q.out.Going() || q.untaken {
		m.explain(w.Message)
		w.Explained = true
	}
	return w
}

// explain tells the ask of a request why it waits here, as an ask of a node or client cannot know.
// msg may be encoded.
func (m *manager) explain(msg any) {
	extension.Explain(m.ctx.System(), msg, m.status.unavailable())
}

// passes reports whether a message that has waited should be sent. It returns false if the message
// has expired or its ask has ended; the message then becomes a dead letter.
func (m *manager) passes(w handover.Waiting) bool {
	switch {
	case w.Expired(time.Now()):
		m.withdraw(w.Message, ErrHeldTooLong)
	case w.Withdrawn():
		m.withdraw(w.Message, actor.ErrWithdrawn)
	default:
		return true
	}
	return false
}

func (m *manager) withdraw(msg any, reason error) {
	m.deadLetter(msg, reason)
	if m.sequenced.out != nil {
		m.publish(Refused{Name: m.name, Message: msg, Reason: reason})
	}
}

func (m *manager) drop(msg any) {
	m.status.Dropped++
	m.deadLetter(msg, fmt.Errorf("%w: %w", ErrBufferFull, m.status.unavailable()))
	m.publish(Refused{Name: m.name, Message: msg, Reason: ErrBufferFull})
}

func (s *settings) expiry(now time.Time) time.Time {
	if s.expire == 0 {
		return time.Time{}
	}
	return now.Add(s.expire)
}

func (m *manager) expire(now time.Time) {
	if m.set.expire == 0 {
		return
	}
	own, others := m.relay.Expire(now)
	if m.sequenced.out != nil {
		own = append(own, m.sequenced.out.Remove(func(w handover.Waiting) bool { return w.Expired(now) })...)
	}
	for _, w := range own {
		m.withdraw(w.Message, ErrHeldTooLong)
	}
	for _, w := range others {
		if d, ok := (outlet{m}).decoded(w.Described); ok {
			m.deadLetter(d.Message, ErrHeldTooLong)
		}
	}
}

func (m *manager) nextExpiry() time.Time {
	if m.set.expire == 0 {
		return time.Time{}
	}
	next := m.relay.NextExpiry()
	if m.sequenced.out != nil {
		for _, w := range m.sequenced.out.Oldest() {
			next = recall.Earliest(next, w.Until)
		}
	}
	return next
}

func (m *manager) awaitExpiry() {
	if m.set.expire > 0 {
		m.settle(time.Now())
	}
}
