package singleton

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/recall"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/singleton/internal/handover"
	"github.com/understudy-go/understudy/singleton/internal/sequence"
)

// sequenced is the part of a manager that implements [AtLeastOnce]. Every node needs its receiver,
// because others may have messages to send.
type sequenced struct {
	m        *manager
	stream   uint64
	out      *sequence.Outbox[handover.Waiting] // nil without AtLeastOnce
	receiver sequence.Receiver
	lastTold uint64 // the number of the last message sent here before this node began to drain
	outcomes *outcomes
	retry    recall.RetryTimer // for asking the host how far it has come
	untaken  bool              // the singleton has moved to a host that has taken nothing from here yet
}

func newSequenced(m *manager, notify func()) sequenced {
	q := sequenced{m: m, stream: rand.Uint64(), outcomes: &outcomes{notify: notify}}
	if m.set.window > 0 {
		q.out = sequence.NewOutbox(m.set.window, m.set.buffer, (&entry{m: m}).admits)
	}
	return q
}

type outcome struct {
	stream wire.StreamID
	number uint64
	msg    any
	err    error
}

type outcomes struct {
	notify func()

	mu   sync.Mutex // guards list
	list []outcome
}

func (o *outcomes) add(x outcome) {
	o.mu.Lock()
	o.list = append(o.list, x)
	o.mu.Unlock()
	o.notify()
}

func (o *outcomes) take() []outcome {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := o.list
	o.list = nil
	return list
}

func (q *sequenced) self() remote.NodeID { return q.m.machine.Topology().Self }

func (q *sequenced) ownStream() wire.StreamID {
	return wire.StreamID{Address: q.self().Address, Number: q.stream}
}

func (q *sequenced) header(to remote.NodeID) wire.Header {
	return wire.Header{Name: q.m.name, From: q.self(), To: to}
}

func (q *sequenced) routeKind() recall.RouteKind { return q.m.relay.Route().Kind }

func (q *sequenced) take(d handover.Told) {
	for _, w := range q.out.Tell(q.m.hold(d)) {
		q.m.drop(w.Message)
	}
	q.pump()
	q.m.awaitExpiry()
	if !q.out.Going() || q.retry.At().IsZero() {
		q.m.settle(time.Now())
	}
}

func (q *sequenced) aim() {
	if q.out == nil {
		return
	}
	switch route := q.m.relay.Route(); route.Kind {
	case recall.ToInstance:
		q.untaken = false
		q.out.Aim(q.self())
	case recall.ToPeer:
		q.untaken = q.untaken || q.out.To() != remote.NodeID{} && q.out.To() != route.Peer
		if q.out.Aim(route.Peer) {
			q.check()
		}
	case recall.ToSelf, recall.NoRoute:
		q.out.Pause()
		q.explain()
	}
	q.pump()
}

func (q *sequenced) explain() {
	for w := range q.out.All() {
		if !w.Explained && w.Metadata.Request() != nil {
			q.m.explain(w.Message)
			w.Explained = true
		}
	}
}

func (q *sequenced) pump() {
	for number, k, ok := q.out.Next(); ok; number, k, ok = q.out.Next() {
		q.release(k)
		if q.out.To() == q.self() {
			q.accept(q.self(), wire.Sequenced{Stream: q.ownStream(), First: q.out.First(), Number: number, Failures: k.Failures}, k)
			if k.Skip {
				q.sendAcks() // no instance reports it as handled
			}
			continue
		}
		if r := k.Msg.Metadata.Request(); r != nil && !k.Skip {
			r.TakeAway() // an ask that ends from now on cannot say that it was not handled
		}
		q.m.post.SendWith(q.out.To(), wire.New(q.header(q.out.To()), q.message(number, k)), k.Msg.Metadata.Sealed())
	}
}

// The request of an ask that has ended is not sent again.
func (q *sequenced) release(k *sequence.Kept[handover.Waiting]) {
	switch {
	case k.Skip:
	case !k.Sent && !q.m.passes(k.Msg):
		*k = sequence.Kept[handover.Waiting]{Skip: true}
	case k.Sent && k.Msg.Withdrawn():
		q.m.withdraw(k.Msg.Message, errSentBefore)
		*k = sequence.Kept[handover.Waiting]{Skip: true}
	}
	if k.Msg.Explained && !k.Sent && !q.untaken { // a move of the singleton has delayed the others
		k.Msg.Explained = false
	}
	k.Sent = true
}

var errSentBefore = fmt.Errorf("%w; it was sent before, and an earlier instance may have handled it", actor.ErrWithdrawn)

// message returns a message for another node. If it cannot be encoded it becomes a dead letter,
// once, and only its number is sent.
func (q *sequenced) message(number uint64, k *sequence.Kept[handover.Waiting]) wire.Sequenced {
	w := wire.Sequenced{Stream: q.ownStream(), First: q.out.First(), Number: number, Failures: k.Failures}
	if !k.Skip {
		payload, err := extension.PackMessage(k.Msg.Message)
		if err == nil {
			err = extension.CheckSize(q.m.ctx.System(), payload.Type, len(payload.Data)+q.overhead(payload.Type))
		}
		if err == nil {
			w.Payload = payload
			return w
		}
		q.m.deadLetter(k.Msg.Message, err)
		q.m.publish(Refused{Name: q.m.name, Message: k.Msg.Message, Reason: err})
		*k = sequence.Kept[handover.Waiting]{Skip: true}
	}
	w.Skip = true
	return w
}

// overhead returns the maximum number of bytes sent to another node in addition to a message. A
// message that is too large would be repeated for ever, and block those after it.
func (q *sequenced) overhead(typ string) int {
	const numbers = 512
	return numbers + len(q.m.name) + len(typ) + len(q.self().Address) + len(q.out.To().Address) + len(q.ownStream().Address)
}

func (q *sequenced) onMessage(from remote.NodeID, w wire.Sequenced) {
	if w.First == 0 || w.Number < w.First {
		q.m.ctx.Log().Debug("malformed message", zap.Uint64("first_message", w.First), zap.Uint64("message", w.Number))
		return
	}
	q.accept(from, w, nil)
	q.sendAcks()
}

// accept passes a message to the instance, if it is its turn. k is the message if it was sent on
// this node, otherwise nil.
func (q *sequenced) accept(from remote.NodeID, w wire.Sequenced, k *sequence.Kept[handover.Waiting]) {
	switch q.receiver.Take(w.Stream, from, w.First, w.Number, q.routeKind() == recall.ToInstance) {
	case sequence.Ignore:
	case sequence.AskAgain:
		q.sendAck(w.Stream, true)
	case sequence.Accept:
		if w.Skip || k != nil && k.Skip { // the sender has refused it
			q.receiver.Skip(w.Stream, w.Number)
			return
		}
		d, err := q.content(w, k)
		if err != nil {
			q.receiver.Refuse(w.Stream, w.Number, err)
			q.receiver.Skip(w.Stream, w.Number)
			return
		}
		q.receiver.HasFailed(w.Stream, w.Number, w.Failures)
		q.hand(w.Stream, w.Number, d)
	}
}

func (q *sequenced) content(w wire.Sequenced, k *sequence.Kept[handover.Waiting]) (handover.Told, error) {
	if k != nil {
		return k.Msg.Described, nil
	}
	msg, err := q.m.decode(w.Payload)
	d := q.m.described(msg)
	d.Metadata = d.Metadata.Unsealed()
	return d, err
}

func (q *sequenced) hand(id wire.StreamID, number uint64, d handover.Told) {
	outcomes := q.outcomes
	q.m.typed.deliver(d, func(err error) {
		outcomes.add(outcome{stream: id, number: number, msg: d.Message, err: err})
	})
}

func (q *sequenced) collect() {
	for _, o := range q.outcomes.take() {
		q.note(o)
	}
	q.sendAcks()
}

func (q *sequenced) note(o outcome) {
	failed, isFailure := errors.AsType[*extension.HandlingError](o.err)
	switch {
	case o.err == nil:
	case isFailure && !failed.Ended: // the supervision inside the instance has dealt with it
	case isFailure && !q.final(o, failed.Err):
		return
	case isFailure:
		q.refuse(o, fmt.Errorf("%w: %w", ErrGivenUp, failed.Err))
	case errors.Is(o.err, actor.ErrStashFull), errors.Is(o.err, actor.ErrMailboxFull), errors.Is(o.err, actor.ErrWithdrawn), errors.Is(o.err, actor.ErrOverloaded):
		q.refuse(o, o.err)
	default: // the instance ended first; the next one handles the message
		return
	}
	q.receiver.Handled(o.stream, o.number)
}

// final reports whether the failure of an instance at a message is the last one. It counts the
// failure, unless something else is at fault: the loss of the singleton, the store, or the end of
// an instance that is being stopped.
func (q *sequenced) final(o outcome, failure error) bool {
	is := func(target error) bool { return guard.Is(failure, target) }
	switch {
	case is(tenure.ErrRejected):
		return true
	case is(ErrFenced), is(ErrLeaseLost), is(tenure.ErrStore), q.m.machine.Phase() != handover.Host:
		return false
	}
	return q.receiver.Failed(o.stream, o.number) >= q.m.set.attempts
}

func (q *sequenced) refuse(o outcome, why error) {
	q.m.deadLetter(o.msg, why)
	q.receiver.Refuse(o.stream, o.number, why)
}

func (q *sequenced) sendAcks() {
	for ids := q.receiver.News(); len(ids) > 0; ids = q.receiver.News() {
		for _, id := range ids {
			q.sendAck(id, false)
		}
	}
}

// sendAck informs the sender of a stream of how far the stream has come. again asks for the
// messages after the last one received.
func (q *sequenced) sendAck(id wire.StreamID, again bool) {
	ack, to := q.receiver.Ack(id)
	ack.Again = again
	switch {
	case id == q.ownStream():
		q.onAck(to, ack)
	case to != remote.NodeID{}:
		q.m.post.Send(to, wire.New(q.header(to), ack))
	}
}

// onAck handles the answer of the host. The node where a refused message was sent publishes
// [Refused]; the dead letter is on the host's node, where the reason is found.
func (q *sequenced) onAck(from remote.NodeID, ack wire.Ack) {
	if q.out == nil || ack.Stream.Number != q.stream {
		return
	}
	for _, r := range ack.Refused {
		if w, ok := q.out.Refused(r, ack.Handled); ok {
			q.m.refused(w.Message, extension.UnpackError(q.m.ctx.System(), r.Reason))
		}
	}
	if from == q.out.To() && max(ack.Handled, ack.Received) >= q.out.First() {
		q.untaken = false
	}
	q.out.Handled(ack.Handled)
	q.out.Failed(ack.Handled+1, ack.Failures)
	if ack.Again {
		q.out.Again(from, ack.Received)
	}
	q.pump()
	q.m.settle(time.Now())
}

func (q *sequenced) check() {
	q.m.post.Send(q.out.To(), wire.New(q.header(q.out.To()), wire.Check{Stream: q.ownStream(), First: q.out.First(), Last: q.out.Sent()}))
}

func (q *sequenced) onCheck(from remote.NodeID, w wire.Check) {
	if w.First == 0 {
		q.m.ctx.Log().Debug("malformed check", zap.Uint64("last_message", w.Last))
		return
	}
	received := q.receiver.Begin(w.Stream, from, w.First)
	q.sendAck(w.Stream, q.routeKind() == recall.ToInstance && received < w.Last)
}

func (q *sequenced) plan(now time.Time) { q.retry.Plan(now, q.unsettled()) }

func (q *sequenced) tick(now time.Time) {
	if q.retry.Due(now) && q.unsettled() {
		q.check()
	}
}

func (q *sequenced) unsettled() bool {
	return q.out != nil && q.routeKind() == recall.ToPeer && q.out.Open() > 0
}

func (q *sequenced) instanceBegun() {
	q.receiver.Forget(func(address string) bool {
		return address == q.self().Address || q.m.machine.Topology().HasMemberAt(address)
	})
	for _, id := range q.receiver.Restart() {
		q.sendAck(id, true)
	}
}

// sendWatermarks informs the next host of what was handled here, so that it is not handled twice.
func (q *sequenced) sendWatermarks(to remote.NodeID) {
	if marks := q.receiver.Watermarks(); len(marks) > 0 && to != q.self() {
		q.m.post.Send(to, wire.New(q.header(to), wire.Watermarks{Marks: marks}))
	}
}

func (q *sequenced) beginDrain() {
	if q.out != nil {
		q.lastTold = q.out.Last()
	}
}

// drained reports whether those messages have been handled. While no node hosts it returns true,
// because waiting would not help.
func (q *sequenced) drained() bool {
	return q.out == nil || q.out.Past(q.lastTold) || q.routeKind() == recall.NoRoute
}
