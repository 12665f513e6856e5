package delivery

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/internal/window"
)

const (
	firstResend = time.Second
	minResend   = 2 * time.Second
	maxResend   = 30 * time.Second
)

// Producer is the sending end, for one consumer at a time. [Buffer], [WithQueue],
// [FlowControlOnly], [ChunkAbove] and [MaxBytes] are its options. It panics when some of
// them contradict each other.
func Producer[M any](opts ...Option) actor.Behavior[Command[M]] {
	return newProducer[M](settingsOf(opts), false, nil)
}

// WorkPulling is a producer for any number of consumers: each message goes to one of them,
// when it has asked for some. It has the options of [Producer].
func WorkPulling[M any](opts ...Option) actor.Behavior[Command[M]] {
	return newProducer[M](settingsOf(opts), true, nil)
}

// newProducer returns a producer that calls begin when it starts.
func newProducer[M any](set settings, pulling bool, begin func(*producer[M])) actor.Behavior[Command[M]] {
	set.validate()
	return func(ctx *actor.Context[Command[M]], next *actor.Next[Command[M]]) {
		p := &producer[M]{ctx: ctx, set: set, pulling: pulling}
		p.from = actor.Adapt(ctx, func(r request) Command[M] { return requested[M]{r} })
		var cancel context.CancelFunc
		p.life, cancel = context.WithCancel(ctx)
		next.OnMessage = p.handle
		ctx.Defer(func() {
			cancel()
			p.end()
		})
		if !pulling {
			p.lanes = []*lane[M]{{stream: p.newStream()}}
		}
		if set.queue != nil {
			p.load()
		}
		if begin != nil {
			begin(p)
		}
	}
}

// streamMark is between the part of a stream's name that all streams of a producer have,
// and its own.
const streamMark = "\x00"

// newStream returns the name of a stream of messages, which lives no longer than this
// incarnation of the producer, unless it is that of a queue.
func (p *producer[M]) newStream() string {
	if p.durable() {
		return p.set.queue.ID()
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, p.ctx.Self().String()) // it never fails
	return strconv.FormatUint(h.Sum64(), 36) + streamMark + strconv.FormatUint(rand.Uint64(), 36)
}

type producer[M any] struct {
	ctx     *actor.Context[Command[M]]
	life    context.Context // of this incarnation
	set     settings
	pulling bool
	from    actor.ActorRef[request]
	lanes   []*lane[M]
	backlog fifo.Queue[*entry[M]] // stored, if they have to be
	last    uint64                // the highest number
	storage storage[M]
}

// durable reports whether streams outlive this incarnation.
func (p *producer[M]) durable() bool { return p.set.queue != nil && !p.pulling }

type (
	requested[M any] struct{ request } // a consumer says
	overdue[M any]   struct {          // no answer has come on a lane
		nothing
		aim uint64
	}
	gone[M any] struct { // the consumer of a lane has ended
		nothing
		aim uint64
	}
)

func (requested[M]) command(M) {}
func (overdue[M]) command(M)   {}
func (gone[M]) command(M)      {}

func (p *producer[M]) handle(_ *actor.Context[Command[M]], msg Command[M]) actor.Behavior[Command[M]] {
	switch msg := msg.(type) {
	case Send[M]:
		p.take(&entry[M]{msg: msg.Message, replyTo: msg.ReplyTo, confirmTo: msg.ConfirmTo})
	case Connect[M]:
		p.connect(msg.Consumer)
		p.pump()
	case Resend[M]:
		p.resend(msg)
	case requested[M]:
		p.onRequest(msg.request)
	case overdue[M]:
		if l := p.lane(msg.aim); l != nil {
			p.lookAfter(l)
		}
	case gone[M]:
		if l := p.lane(msg.aim); l != nil {
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
	}
	return nil
}

// take takes a message, if there is room.
func (p *producer[M]) take(e *entry[M]) {
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
	p.backlog.Push(e)
	p.pump()
}

// refuse makes a dead letter of a message that is not stored.
func (p *producer[M]) refuse(e *entry[M], why error) {
	if e.refusal == nil {
		extension.DeadLetter(p.ctx.System(), p.ctx.Self().Path(), e.msg, why)
		e.refusal = why
	}
	e.accepted(0)
	e.refused()
}

// drop makes a dead letter of a message, which may be stored.
func (p *producer[M]) drop(e *entry[M], why error) {
	extension.DeadLetter(p.ctx.System(), p.ctx.Self().Path(), e.msg, why)
	p.turnDown(e, why)
}

// turnDown notes that nobody is going to handle a message. What a queue has counts as refused,
// for the sender and the consumers, when the queue has stored that.
func (p *producer[M]) turnDown(e *entry[M], why error) {
	e.refusal = why
	if p.set.queue == nil {
		e.refused()
		return
	}
	e.pending = true
	p.storage.refused = append(p.storage.refused, e)
}

// lane returns the one that was aimed under a number.
func (p *producer[M]) lane(aim uint64) *lane[M] {
	for _, l := range p.lanes {
		if l.aimed && l.aimID == aim {
			return l
		}
	}
	return nil
}

// connect returns the lane to a consumer, about which nothing is known yet.
func (p *producer[M]) connect(consumer actor.ActorRef[Link[M]]) *lane[M] {
	if consumer == (actor.ActorRef[Link[M]]{}) {
		extension.DeadLetter(p.ctx.System(), p.ctx.Self().Path(), Connect[M]{}, actor.ErrNoRef)
		return nil
	}
	l := p.laneFor(consumer)
	if p.set.loose && l.aimed && l.consumer == consumer {
		return l // what is under way would not count any more
	}
	if l.aimed {
		p.ctx.CancelTimer(l.timer())
		p.ctx.Unwatch(l.consumer)
	}
	if p.set.loose {
		l.forget()
	}
	l.consumer, l.aimID, l.delay = consumer, rand.Uint64(), 0
	l.aim()
	p.ctx.WatchWith(consumer, gone[M]{aim: l.aimID})
	return l
}

func (p *producer[M]) laneFor(consumer actor.ActorRef[Link[M]]) *lane[M] {
	if !p.pulling {
		return p.lanes[0]
	}
	if l := p.laneTo(consumer); l != nil {
		return l
	}
	l := &lane[M]{stream: p.newStream()}
	p.lanes = append(p.lanes, l)
	return l
}

// laneTo returns the lane to a consumer, if there is one.
func (p *producer[M]) laneTo(consumer actor.ActorRef[Link[M]]) *lane[M] {
	for _, l := range p.lanes {
		if l.consumer == consumer {
			return l
		}
	}
	return nil
}

// disconnect keeps what was not confirmed for the next consumer, or for the other workers.
func (p *producer[M]) disconnect(l *lane[M]) {
	p.ctx.CancelTimer(l.timer())
	l.aimed, l.delay = false, 0
	if !p.pulling {
		return
	}
	p.lanes = slices.DeleteFunc(p.lanes, func(o *lane[M]) bool { return o == l })
	before := fifo.Of(l.unfinished(p.unsent(l)))
	for _, e := range p.backlog.All() {
		before.Push(e)
	}
	p.backlog = before
}

// unsent is after which number a lane has what can be sent to others.
func (p *producer[M]) unsent(l *lane[M]) uint64 {
	if p.set.loose {
		return l.Sent()
	}
	return l.Acked()
}

// pump sends what can go.
func (p *producer[M]) pump() {
	for p.backlog.Len() > 0 {
		l := idlest(p.lanes)
		if l == nil {
			break
		}
		p.assign(l, p.backlog.Pop())
	}
	for _, l := range p.lanes {
		for number, ok := l.next(); ok; number, ok = l.next() {
			p.send(l, number, false)
		}
		p.watchOver(l)
	}
	p.store() // as what was refused is settled
}

// assign gives a message to a lane.
func (p *producer[M]) assign(l *lane[M], e *entry[M]) {
	if e.refusal == nil && !extension.Owns(p.ctx.System(), l.consumer) {
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

func (p *producer[M]) send(l *lane[M], number uint64, probe bool) {
	at := l.At(number)
	e := at.of
	here := extension.Owns(p.ctx.System(), l.consumer)
	if !here && !e.empty() {
		if err := p.encode(e); err != nil {
			p.drop(e, err)
		}
	}
	m := p.header(l, number)
	m.Probe, m.Part, m.More, m.Void = probe, uint64(at.index), !at.last(), e.empty()
	if p.pulling {
		m.Serial = e.number
	}
	switch {
	case e.empty():
	case here && len(e.cuts) == 0:
		m.local = e.msg
	default:
		m.Payload = at.payload()
	}
	l.consumer.TellNoWait(m)
	if p.set.loose {
		e.clear()
	}
}

func (p *producer[M]) header(l *lane[M], number uint64) sequenced {
	return sequenced{
		Stream: l.stream, Aim: l.aimID, From: p.from, First: l.Acked() + 1, Number: number,
		Durable: p.durable(), Loose: p.set.loose,
	}
}

func (p *producer[M]) onRequest(r request) {
	l := p.lane(r.Aim)
	if l == nil {
		return
	}
	for _, one := range r.Refused {
		p.heedRefusal(l, one, r.Confirmed)
	}
	progress := l.request(r, func(done part[M]) bool {
		if done.of.pending {
			l.heard, l.heard.Again = r, false
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

// heedRefusal takes note of a number up to upTo that a consumer has refused.
func (p *producer[M]) heedRefusal(l *lane[M], one window.Refusal, upTo uint64) {
	if at, ok := l.Refused(one, upTo); ok && at.last() && !at.of.empty() {
		p.turnDown(at.of, extension.UnpackError(p.ctx.System(), one.Reason))
	}
}

// settled notes that a message has been confirmed or refused, so that nobody needs it any
// more.
func (p *producer[M]) settled(e *entry[M]) {
	switch {
	case e.refusal == nil && !p.set.loose:
		e.confirmed()
	case e.refusal != nil && !e.pending:
		e.refused()
	}
	if p.set.queue != nil {
		p.storage.confirmed.confirm(e.first(), e.number)
	}
}

// watchOver sees that what is unsettled is looked after.
func (p *producer[M]) watchOver(l *lane[M]) {
	if l.pending() && l.delay == 0 {
		l.delay = firstResend
		p.ctx.After(l.timer(), l.delay, overdue[M]{aim: l.aimID})
	}
}

// lookAfter sends the first message again for which no confirmation has come, and asks
// what is missing.
func (p *producer[M]) lookAfter(l *lane[M]) {
	if !l.pending() {
		l.delay = 0
		return
	}
	if p.set.loose {
		m := p.header(l, l.Sent()) // with nothing in it
		m.Probe, m.Void = true, true
		l.consumer.TellNoWait(m)
	} else {
		p.send(l, l.Acked()+1, true)
	}
	l.delay = min(max(2*l.delay, minResend), maxResend)
	p.ctx.After(l.timer(), l.delay, overdue[M]{aim: l.aimID})
}

// errEnded is why what nobody keeps is given up.
var errEnded = fmt.Errorf("%w before it was confirmed", actor.ErrTerminated)

// end gives up what nobody keeps.
func (p *producer[M]) end() {
	if p.set.queue != nil {
		p.endOfStorage()
		return
	}
	for _, l := range p.lanes {
		for _, e := range l.unfinished(p.unsent(l)) {
			p.refuse(e, errEnded)
		}
	}
	for _, e := range p.backlog.All() {
		p.refuse(e, errEnded)
	}
}
