package singleton

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/node"
)

// maxFailures is how many instances may fail at a message before it is given up.
const maxFailures = 10

// reliable is the part of a manager that has to do with [AtLeastOnce].
type reliable[M any] struct {
	stream   uint64
	out      *outbox[waiting[M]] // nil without AtLeastOnce
	intake   intake
	lastTold uint64 // the number of the last message that was told before this node drained
	outcomes *outcomes[M]
	checks   look
}

func newReliable[M any](set settings, notify func()) reliable[M] {
	r := reliable[M]{stream: rand.Uint64(), outcomes: &outcomes[M]{notify: notify}}
	if set.window > 0 {
		r.out = &outbox[waiting[M]]{window: set.window, limit: set.buffer}
	}
	return r
}

// An outcome is what has become of a message that the instance was handed.
type outcome[M any] struct {
	stream streamID
	number uint64
	msg    M
	err    error
}

// outcomes are those that the manager has not looked at.
type outcomes[M any] struct {
	notify func()

	mu   sync.Mutex // guards list
	list []outcome[M]
}

func (o *outcomes[M]) add(x outcome[M]) {
	o.mu.Lock()
	o.list = append(o.list, x)
	o.mu.Unlock()
	o.notify()
}

func (o *outcomes[M]) take() []outcome[M] {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := o.list
	o.list = nil
	return list
}

func (m *manager[M]) self() node.ID { return m.machine.topo.Self }

func (m *manager[M]) ownStream() streamID {
	return streamID{Address: m.self().Address, Number: m.reliable.stream}
}

// keep takes what is told to the singleton on this node, and keeps it until it has been
// handled.
func (m *manager[M]) keep(msg M) {
	m.overflowed(m.reliable.out.tell(m.keepWaiting(msg)))
	m.pump()
	m.awaitExpiry()
	if !m.reliable.out.going || m.reliable.checks.at.IsZero() {
		m.settle(time.Now())
	}
}

// aim sends what is kept along the route.
func (m *manager[M]) aim() {
	out := m.reliable.out
	if out == nil {
		return
	}
	switch m.mail.route.kind {
	case toInstance:
		out.aim(m.self())
	case toPeer:
		if out.aim(m.mail.route.peer) {
			m.check()
		}
	case toSelf, toNobody:
		out.pause()
	}
	m.pump()
}

// pump sends what can go by now, in order.
func (m *manager[M]) pump() {
	out := m.reliable.out
	for number, k, ok := out.next(); ok; number, k, ok = out.next() {
		m.release(k)
		if out.to == m.self() {
			m.accept(wireTold{Stream: m.ownStream(), From: m.self(), First: out.acked + 1, Number: number}, k)
			if k.void {
				m.sendAcks() // no instance will say that it has handled it
			}
			continue
		}
		m.post.send(out.to, m.told(number, k))
	}
}

// release decides about a message that is sent for the first time.
func (m *manager[M]) release(k *kept[waiting[M]]) {
	if !k.void && !k.sent && !m.passes(k.msg) {
		*k = kept[waiting[M]]{void: true}
	}
	k.sent = true
}

// told is a message on its way to another node. What cannot be encoded is a dead letter,
// once; only its number is sent.
func (m *manager[M]) told(number uint64, k *kept[waiting[M]]) wireTold {
	w := wireTold{
		Name: m.name, From: m.self(), To: m.reliable.out.to,
		Stream: m.ownStream(), First: m.reliable.out.acked + 1, Number: number,
	}
	if !k.void {
		payload, err := extension.PackMessage(k.msg.Message)
		if err == nil {
			err = extension.CheckSize(m.ctx.System(), payload.Type, len(payload.Data)+m.sizeAround(payload.Type))
		}
		if err == nil {
			w.Payload = payload
			return w
		}
		m.deadLetter(k.msg.Message, err)
		m.publish(Refused{Name: m.name, Message: k.msg.Message, Reason: err})
		*k = kept[waiting[M]]{void: true}
	}
	w.Void = true
	return w
}

// sizeAround is at most how many bytes go with a message to another node. One that does not get
// through would be sent again for ever, and those after it wait.
func (m *manager[M]) sizeAround(typ string) int {
	const numbers = 512
	return numbers + len(m.name) + len(typ) + len(m.self().Address) + len(m.reliable.out.to.Address) + len(m.ownStream().Address)
}

// onTold takes a message that another node keeps.
func (m *manager[M]) onTold(w wireTold) {
	if w.First == 0 || w.Number < w.First {
		m.ctx.Log().Debug("malformed message", zap.Uint64("first_message", w.First), zap.Uint64("message", w.Number))
		return
	}
	m.accept(w, nil)
	m.sendAcks()
}

// accept hands a message to the instance, if it is its turn. k is the message where it
// is one of this node.
func (m *manager[M]) accept(w wireTold, k *kept[waiting[M]]) {
	switch m.reliable.intake.take(w.Stream, w.From, w.First, w.Number, m.mail.route.kind == toInstance) {
	case ignore:
	case askAgain:
		m.sendAck(w.Stream, true)
	case accept:
		if w.Void || k != nil && k.void { // the sender has refused it
			m.reliable.intake.void(w.Stream, w.Number)
			return
		}
		msg, err := m.content(w, k)
		if err != nil {
			m.reliable.intake.refuse(w.Stream, w.Number, err)
			m.reliable.intake.void(w.Stream, w.Number)
			return
		}
		m.hand(w.Stream, w.Number, msg)
	}
}

func (m *manager[M]) content(w wireTold, k *kept[waiting[M]]) (msg M, err error) {
	if k != nil {
		return k.msg.Message, nil
	}
	return m.decode(w.Payload)
}

// hand gives a message to the instance, and hears what becomes of it.
func (m *manager[M]) hand(id streamID, number uint64, msg M) {
	outcomes := m.reliable.outcomes
	extension.Deliver(m.instance.ref, msg, func(err error) {
		outcomes.add(outcome[M]{stream: id, number: number, msg: msg, err: err})
	})
}

// collect takes note of what has become of messages, and tells their senders.
func (m *manager[M]) collect() {
	for _, o := range m.reliable.outcomes.take() {
		m.note(o)
	}
	m.sendAcks()
}

func (m *manager[M]) note(o outcome[M]) {
	in := &m.reliable.intake
	failed, isFailure := errors.AsType[*extension.HandlingError](o.err)
	switch {
	case o.err == nil:
	case isFailure && !failed.Ended: // its supervision has decided about it
	case isFailure && in.failed(o.stream, o.number) < maxFailures:
		return
	case isFailure:
		m.refuseOutcome(o, fmt.Errorf("%w: %w", ErrGivenUp, failed.Err))
	case errors.Is(o.err, actor.ErrStashFull):
		m.refuseOutcome(o, o.err)
	default: // the instance has ended before; it is for the next one
		return
	}
	in.handled(o.stream, o.number)
}

// refuseOutcome makes a dead letter of a message that no instance is going to handle.
func (m *manager[M]) refuseOutcome(o outcome[M], why error) {
	m.deadLetter(o.msg, why)
	m.reliable.intake.refuse(o.stream, o.number, why)
}

// sendAcks tells senders what has been handled.
func (m *manager[M]) sendAcks() {
	for ids := m.reliable.intake.news(); len(ids) > 0; ids = m.reliable.intake.news() {
		for _, id := range ids {
			m.sendAck(id, false)
		}
	}
}

// sendAck tells the sender of a stream how far it has come; again asks for what comes
// after what has been received.
func (m *manager[M]) sendAck(id streamID, again bool) {
	s := m.reliable.intake.stream(id)
	ack := wireAck{Name: m.name, From: m.self(), To: s.from, Stream: id, Received: s.received, Again: again}
	ack.Handled, ack.Refused = s.told()
	switch {
	case id == m.ownStream():
		m.onAck(ack)
	case s.from != node.ID{}: // else it is only known from a former host
		m.post.send(s.from, ack)
	}
}

// onRefused says on the sender's node what no instance is going to handle. Its dead letter is on
// the host's node, where the reason is found.
func (m *manager[M]) onRefused(w wireAck) {
	out := m.reliable.out
	for _, r := range w.Refused {
		if r.Number > w.Handled || r.Number <= out.acked || r.Number > out.acked+uint64(out.open.Len()) {
			continue // it is known, or nothing of ours
		}
		if k := out.open.At(int(r.Number - out.acked - 1)); !k.void {
			m.publish(Refused{Name: m.name, Message: k.msg.Message, Reason: extension.UnpackError(m.ctx.System(), r.Reason)})
		}
	}
}

// onAck takes note of what instances have handled, wherever.
func (m *manager[M]) onAck(w wireAck) {
	out := m.reliable.out
	if out == nil || w.Stream.Number != m.reliable.stream {
		return
	}
	m.onRefused(w)
	out.handled(w.Handled)
	if w.Again {
		out.again(w.From, w.Received)
	}
	m.pump()
	m.settle(time.Now())
}

// check asks the host how far it has come. Either of messages and answers may be lost.
func (m *manager[M]) check() {
	out := m.reliable.out
	m.post.send(out.to, wireCheck{Name: m.name, From: m.self(), To: out.to, Stream: m.ownStream(), First: out.acked + 1, Last: out.sent})
}

func (m *manager[M]) onCheck(w wireCheck) {
	if w.First == 0 {
		m.ctx.Log().Debug("malformed check", zap.Uint64("last_message", w.Last))
		return
	}
	s := m.reliable.intake.meet(w.Stream, w.From, w.First)
	m.sendAck(w.Stream, m.mail.route.kind == toInstance && s.received < w.Last)
}

// checkDue reports whether there is something to check from time to time.
func (m *manager[M]) checkDue() bool {
	out := m.reliable.out
	return out != nil && m.mail.route.kind == toPeer && out.unsettled()
}

// begun is the beginning of an instance: it is to be handed what has not been handled,
// by its senders, once the way is open.
func (m *manager[M]) begun() {
	in := &m.reliable.intake
	in.forget(func(address string) bool {
		return address == m.self().Address || m.machine.topo.hasMemberAt(address)
	})
	for _, id := range in.begin() {
		m.sendAck(id, true)
	}
}

// sendMarks tells the next host what has been handled here, so that it does not happen
// twice.
func (m *manager[M]) sendMarks(to node.ID) {
	if marks := m.reliable.intake.marks(); len(marks) > 0 && to != m.self() {
		m.post.send(to, wireMarks{Name: m.name, From: m.self(), To: to, Marks: marks})
	}
}

// settled reports whether nobody waits for what was told on this node before it began to
// drain; where nobody hosts there is no use in waiting.
func (m *manager[M]) settled() bool {
	out := m.reliable.out
	return out == nil || out.past(m.reliable.lastTold) || m.mail.route.kind == toNobody
}
