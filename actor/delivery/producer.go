package delivery

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/internal/window"
)

const (
	firstResend = time.Second
	minResend   = 2 * time.Second
	maxResend   = 30 * time.Second
)

// Producer returns the sending end, for one consumer at a time, which [Connect] names. Its options
// are [Buffer], [WithQueue], [FlowControlOnly], [ChunkAbove] and [MaxBytes]. It panics if options
// contradict each other.
func Producer[M any](opts ...Option) actor.Behavior[Command[M]] {
	return newProducer[M](settingsOf(opts), nil)
}

// WorkPulling returns a producer for any number of consumers: each message goes to one consumer
// that has asked for more. It has the options of [Producer].
func WorkPulling[M any](opts ...Option) actor.Behavior[Command[M]] {
	return newProducer(settingsOf(opts), func(p *producer[M]) { p.several = true })
}

func newProducer[M any](set settings, begin func(*producer[M])) actor.Behavior[Command[M]] {
	set.validate()
	return func(ctx *actor.Context[Command[M]], next *actor.Next[Command[M]]) {
		p := &producer[M]{ctx: ctx, set: set.carriedBy(ctx.System(), ctx.Self().String()), start: rand.Uint64(), share: share{counts: countsOf[M](ctx.System())}}
		p.from = actor.Adapt(ctx, func(r request) Command[M] { return requested[M]{r} })
		var cancel context.CancelFunc
		p.life, cancel = context.WithCancel(ctx)
		next.OnMessage = func(_ *actor.Context[Command[M]], msg Command[M]) actor.Behavior[Command[M]] {
			defer func() {
				p.share.show(p.backlog.Len()+p.storage.kept()+p.connections.kept()+p.receivers.kept(), p.receivers.count())
			}()
			return p.handle(msg)
		}
		ctx.Defer(func() {
			cancel()
			p.end()
			p.share.show(0, 0)
		})
		if begin != nil {
			begin(p)
		}
		if !p.several {
			p.connections = connections[M]{{stream: p.newStream()}}
		}
		if set.queue != nil {
			p.load()
		}
	}
}

func (p *producer[M]) newStream() string {
	owner, start := "", ""
	switch {
	case p.durable():
		return p.set.queue.ID()
	case p.set.queue != nil:
		owner = p.set.queue.ID()
	default:
		h := fnv.New64a()
		_, _ = io.WriteString(h, p.ctx.Self().String()) // it never fails
		owner, start = strconv.FormatUint(h.Sum64(), 36), strconv.FormatUint(p.start, 36)
	}
	return owner + streamSeparator + start + streamSeparator + strconv.FormatUint(rand.Uint64(), 36)
}

type producer[M any] struct {
	ctx         *actor.Context[Command[M]]
	life        context.Context // ends with this incarnation
	set         settings
	start       uint64        // at random
	several     bool          // their streams end with this incarnation
	receivers   *receivers[M] // to which it sends by id; else nil
	from        actor.ActorRef[request]
	connections connections[M]        // except those to receivers
	backlog     fifo.Queue[*entry[M]] // stored, if they have to be; not of receivers
	last        uint64
	storage     storage[M]
	share       share
}

// True if streams outlive this incarnation.
func (p *producer[M]) durable() bool { return p.set.queue != nil && !p.several }

type (
	requested[M any] struct{ request } // a consumer says
	timedOut[M any]  struct {          // no answer has come on a connection
		noPayload
		connection uint64
	}
	consumerEnded[M any] struct { // the consumer of a connection has ended
		noPayload
		connection uint64
	}
)

func (requested[M]) command(M)     {}
func (timedOut[M]) command(M)      {}
func (consumerEnded[M]) command(M) {}

func (p *producer[M]) handle(msg Command[M]) actor.Behavior[Command[M]] {
	switch msg := msg.(type) {
	case Send[M]:
		p.take(&entry[M]{to: p.receivers.idOf(msg), msg: msg.Message, replyTo: msg.ReplyTo, confirmTo: msg.ConfirmTo, metadata: extension.MetadataOf(p.ctx)})
	case Connect[M]:
		if p.receivers == nil {
			p.connect(msg.Consumer)
			p.pump()
		}
	case Resend[M]:
		p.resend(msg)
	case requested[M]:
		p.onRequest(msg.request)
	case timedOut[M]:
		if l := cmp.Or(p.receivers.withID(msg.connection), p.connections.withID(msg.connection)); l != nil {
			p.onTimeout(l)
		}
	case consumerEnded[M]:
		if l := p.connections.withID(msg.connection); l != nil {
			p.disconnect(l)
			p.pump()
		}
	case loaded[M]:
		if msg.by == p {
			return p.onLoaded(msg)
		}
	case stored[M]:
		if msg.by == p {
			return p.onStored(msg)
		}
	case found[M]:
		if msg.by == p {
			p.onFound(msg)
		}
	case roomAgain[M]:
		if msg.by == p {
			p.storage.full = false
			p.store()
		}
	case sweepDue[M]:
		p.receivers.sweep()
	}
	return nil
}

func (p *producer[M]) take(e *entry[M]) {
	if err := p.receivers.admit(p, e); err != nil {
		p.refuse(e, err)
		return
	}
	if p.backlog.Len()+p.storage.fresh.Len() >= p.set.buffer {
		p.refuse(e, ErrBufferFull)
		return
	}
	if p.set.queue != nil || p.set.chunkAbove > 0 {
		if err := p.encode(e); err != nil {
			p.refuse(e, err)
			return
		}
	}
	if p.set.queue != nil {
		p.storage.fresh.Push(e)
		p.store()
		return
	}
	p.ready(e)
	p.pump()
}

func (p *producer[M]) ready(e *entry[M]) {
	if p.receivers == nil {
		p.backlog.Push(e)
	} else if err := p.receivers.ready(p, e); err != nil {
		p.drop(e, err) // it is in a queue, which accepted other ids once
		p.settled(e)
	}
}

func (p *producer[M]) refuse(e *entry[M], why error) {
	if e.refusal == nil {
		extension.DeadLetter(p.ctx.System(), p.ctx.Self().Path(), e.msg, why)
		e.refusal = why
		p.share.refused.Add(1)
	}
	e.accepted(0)
	e.refused()
}

func (p *producer[M]) drop(e *entry[M], why error) {
	extension.DeadLetter(p.ctx.System(), p.ctx.Self().Path(), e.msg, why)
	p.noteRefused(e, why)
}

// With a queue, the sender and the consumers learn of the refusal when the queue has stored it.
func (p *producer[M]) noteRefused(e *entry[M], why error) {
	e.refusal = why
	p.share.refused.Add(1)
	if p.set.queue == nil {
		e.refused()
		return
	}
	e.pending = true
	p.storage.refused = append(p.storage.refused, e)
}

// connect returns nil for the zero ref.
func (p *producer[M]) connect(consumer actor.ActorRef[Link[M]]) *connection[M] {
	if consumer == (actor.ActorRef[Link[M]]{}) {
		extension.DeadLetter(p.ctx.System(), p.ctx.Self().Path(), Connect[M]{}, actor.ErrNoRef)
		return nil
	}
	l := p.connectionFor(consumer)
	if p.set.flowOnly && l.connected && l.consumer == consumer {
		return l // messages in flight would not count any more
	}
	if l.connected {
		p.ctx.CancelTimer(l.timer())
		p.ctx.Unwatch(l.consumer)
	}
	if p.set.flowOnly {
		l.forget()
	}
	l.consumer, l.id, l.delay = consumer, rand.Uint64(), 0
	l.connect()
	p.ctx.WatchWith(consumer, consumerEnded[M]{connection: l.id})
	return l
}

func (p *producer[M]) connectionFor(consumer actor.ActorRef[Link[M]]) *connection[M] {
	if !p.several {
		return p.connections[0]
	}
	if l := p.connections.to(consumer); l != nil {
		return l
	}
	l := &connection[M]{stream: p.newStream()}
	p.connections = append(p.connections, l)
	return l
}

// Unconfirmed messages wait for the next consumer, or go to the others.
func (p *producer[M]) disconnect(l *connection[M]) {
	p.ctx.CancelTimer(l.timer())
	l.connected, l.delay = false, 0
	if !p.several {
		return
	}
	p.connections = slices.DeleteFunc(p.connections, func(o *connection[M]) bool { return o == l })
	before := fifo.Of(l.unfinished(l.unsent(p.set.flowOnly)))
	for _, e := range p.backlog.All() {
		before.Push(e)
	}
	p.backlog = before
}

func (p *producer[M]) pump() {
	if p.receivers != nil {
		p.receivers.pump(p)
	}
	for p.backlog.Len() > 0 {
		l := p.connections.leastBusy()
		if l == nil {
			break
		}
		p.assign(l, p.backlog.Pop())
	}
	for _, l := range p.connections {
		p.sendFrom(l)
	}
	p.store() // refused messages may be settled now
}

func (p *producer[M]) sendFrom(l *connection[M]) {
	for number, ok := l.next(); ok; number, ok = l.next() {
		p.send(l, number, false)
	}
	p.startTimer(l)
}

func (p *producer[M]) assign(l *connection[M], e *entry[M]) {
	if e.refusal == nil && !l.here(p.ctx.System()) {
		if err := p.encode(e); err != nil {
			p.drop(e, err)
		}
	}
	if e.refusal != nil {
		e.accepted(0)
		p.settled(e)
		return
	}
	if e.number == 0 {
		p.last += uint64(e.parts())
		e.number = p.last
	}
	for i := range e.parts() {
		l.Push(part[M]{e, i})
	}
	e.accepted(e.number)
}

func (p *producer[M]) send(l *connection[M], number uint64, probe bool) {
	at := l.At(number)
	e := at.of
	here := l.here(p.ctx.System())
	if !here && !e.empty() {
		if err := p.encode(e); err != nil {
			p.drop(e, err)
		}
	}
	m := p.header(l, number)
	m.Probe, m.Part, m.More, m.Void = probe, uint64(at.index), !at.last(), e.empty()
	if p.several {
		m.Serial = e.number
	}
	switch {
	case e.empty():
	case here && len(e.cuts) == 0:
		m.local = e.msg
	default:
		m.Payload = at.payload()
	}
	extension.TellNoWaitWith[Link[M]](l.consumer, m, e.metadata.Sealed())
	if number <= l.newest {
		p.share.resent.Add(1)
	}
	l.newest = max(l.newest, number)
	if p.set.flowOnly {
		e.msg, e.payload = *new(M), extension.Payload{}
	}
}

func (p *producer[M]) header(l *connection[M], number uint64) sequenced {
	return sequenced{
		Stream: l.stream, Connection: l.id, From: p.from, First: l.Acked() + 1, Number: number,
		Durable: p.durable(), FlowOnly: p.set.flowOnly, ByID: p.receivers != nil,
	}
}

func (p *producer[M]) onRequest(r request) {
	l := cmp.Or(p.receivers.withID(r.Connection), p.connections.withID(r.Connection))
	if l == nil {
		return
	}
	p.receivers.touch(l)
	for _, one := range r.Refused {
		p.noteRefusal(l, one, r.Confirmed)
	}
	progress := l.request(r, func(done part[M]) bool {
		if done.of.pending {
			l.deferred, l.deferred.Again = r, false
			return false
		}
		if done.last() {
			p.settled(done.of)
		}
		return true
	})
	if progress {
		p.ctx.CancelTimer(l.timer())
		l.delay = 0
	}
	if l.leaving && l.Len() == 0 {
		p.dismiss(l)
	}
	p.pump()
	p.store()
}

func (p *producer[M]) noteRefusal(l *connection[M], one window.Refusal, upTo uint64) {
	if at, ok := l.Refused(one, upTo); ok && at.last() && !at.of.empty() {
		p.noteRefused(at.of, extension.UnpackError(p.ctx.System(), one.Reason))
	}
}

func (p *producer[M]) settled(e *entry[M]) {
	p.receivers.settled()
	switch {
	case e.refusal == nil && !p.set.flowOnly:
		e.tell(Confirmed{Number: e.number})
	case e.refusal != nil && !e.pending:
		e.refused()
	}
	if p.set.queue != nil {
		p.storage.settled.settle(e.number-uint64(e.parts())+1, e.number)
	}
}

func (p *producer[M]) startTimer(l *connection[M]) {
	if l.pending() && l.delay == 0 {
		l.delay = firstResend
		p.ctx.After(l.timer(), l.delay, timedOut[M]{connection: l.id})
	}
}

// A message that is sent again asks the consumer what it has received.
func (p *producer[M]) onTimeout(l *connection[M]) {
	if !l.pending() {
		l.delay = 0
		return
	}
	if p.set.flowOnly {
		m := p.header(l, l.Sent()) // with nothing in it
		m.Probe, m.Void = true, true
		l.consumer.TellNoWait(m)
	} else {
		p.send(l, l.Acked()+1, true)
	}
	l.delay = min(max(2*l.delay, minResend), maxResend)
	p.ctx.After(l.timer(), l.delay, timedOut[M]{connection: l.id})
}

var errEnded = fmt.Errorf("%w before it was confirmed", actor.ErrTerminated)

func (p *producer[M]) end() {
	if p.set.queue != nil {
		p.endOfStorage()
		return
	}
	for _, l := range p.connections {
		for _, e := range l.unfinished(l.unsent(p.set.flowOnly)) {
			p.refuse(e, errEnded)
		}
	}
	for _, e := range p.backlog.All() {
		p.refuse(e, errEnded)
	}
	for _, e := range p.receivers.unfinished(p.set.flowOnly) {
		p.refuse(e, errEnded)
	}
}
