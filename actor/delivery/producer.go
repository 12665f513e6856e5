package delivery

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/actor"
)

const (
	firstResend = time.Second
	minResend   = 2 * time.Second
	maxResend   = 30 * time.Second
)

// Producer is the sending end, for one consumer at a time. [Buffer] and [WithQueue] are
// its options.
func Producer[M any](opts ...Option) actor.Behavior[Command[M]] {
	return newProducer[M](settingsOf(opts), false)
}

// WorkPulling is a producer for any number of consumers: each message goes to one of them,
// when it has asked for some. [Buffer] is its option; it panics with [WithQueue].
func WorkPulling[M any](opts ...Option) actor.Behavior[Command[M]] {
	set := settingsOf(opts)
	if set.queue != nil {
		panic("delivery: WithQueue is not for WorkPulling")
	}
	return newProducer[M](set, true)
}

func newProducer[M any](set settings, pulling bool) actor.Behavior[Command[M]] {
	return func(ctx *actor.Context[Command[M]], next *actor.Next[Command[M]]) {
		p := &producer[M]{ctx: ctx, set: set, pulling: pulling, stream: newStreamID()}
		p.from = actor.Adapt(ctx, func(r request) Command[M] { return requested[M]{r} })
		next.OnMessage = p.handle
		ctx.Defer(p.end)
		if !pulling {
			p.lanes = []*lane[M]{{stream: p.stream}}
		}
		if set.queue != nil {
			p.stream = set.queue.ID()
			p.lanes[0].stream = p.stream
			p.load()
		}
	}
}

func newStreamID() string { return strconv.FormatUint(rand.Uint64(), 36) }

type producer[M any] struct {
	ctx     *actor.Context[Command[M]]
	set     settings
	pulling bool
	stream  string
	from    actor.ActorRef[request]
	lanes   []*lane[M]
	backlog fifo[*entry[M]] // stored, if they have to be
	storage storage[M]
}

// An entry is a message that the producer keeps.
type entry[M any] struct {
	msg     M
	payload actor.Payload // of it, once it was needed
	void    bool          // it cannot be sent, and has become a dead letter; its number is
	replyTo actor.ActorRef[Accepted]
}

// A lane leads to one consumer.
type lane[M any] struct {
	outbox[*entry[M]]
	stream   string
	consumer actor.ActorRef[Link[M]]
	aimID    uint64
	delay    time.Duration // until what is unsettled is looked after; 0: no timer runs
}

type (
	requested[M any] struct{ request }    // a consumer says
	overdue[M any]   struct{ aim uint64 } // no answer has come on a lane
	gone[M any]      struct{ aim uint64 } // the consumer of a lane has ended
)

func (requested[M]) command(M) {}
func (overdue[M]) command(M)   {}
func (gone[M]) command(M)      {}

func (p *producer[M]) handle(_ *actor.Context[Command[M]], msg Command[M]) actor.Behavior[Command[M]] {
	switch msg := msg.(type) {
	case Send[M]:
		p.take(msg)
	case Connect[M]:
		p.connect(msg.Consumer)
	case requested[M]:
		p.onRequest(msg.request)
	case overdue[M]:
		if l := p.lane(msg.aim); l != nil {
			p.lookAfter(l)
		}
	case gone[M]:
		if l := p.lane(msg.aim); l != nil {
			p.disconnect(l)
		}
	case loaded[M]:
		return p.onLoaded(msg)
	case stored[M]:
		return p.onStored(msg)
	}
	return nil
}

// take takes a message, if there is room.
func (p *producer[M]) take(s Send[M]) {
	if p.backlog.size()+p.storage.fresh.size() >= p.set.buffer {
		p.refuse(s, ErrBufferFull)
		return
	}
	e := &entry[M]{msg: s.Message, replyTo: s.ReplyTo}
	if p.set.queue == nil {
		p.backlog.push(e)
		p.pump()
		return
	}
	var err error
	if e.payload, err = actor.Pack(s.Message); err != nil {
		p.refuse(s, err)
		return
	}
	p.storage.fresh.push(e)
	p.store()
}

func (p *producer[M]) refuse(s Send[M], reason error) {
	p.ctx.System().DeadLetter(p.ctx.Self().Path(), s.Message, reason)
	reply(s.ReplyTo, Accepted{})
}

func reply(to actor.ActorRef[Accepted], a Accepted) {
	if to != (actor.ActorRef[Accepted]{}) {
		to.Tell(a)
	}
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

func (p *producer[M]) connect(consumer actor.ActorRef[Link[M]]) {
	l := p.laneFor(consumer)
	if l.aimed {
		p.ctx.CancelTimer(l.timer())
		p.ctx.Unwatch(l.consumer)
	}
	l.consumer, l.aimID, l.delay = consumer, rand.Uint64(), 0
	l.aim()
	p.ctx.WatchWith(consumer, gone[M]{l.aimID})
	p.pump()
}

func (p *producer[M]) laneFor(consumer actor.ActorRef[Link[M]]) *lane[M] {
	if !p.pulling {
		return p.lanes[0]
	}
	for _, l := range p.lanes {
		if l.consumer == consumer {
			return l
		}
	}
	l := &lane[M]{stream: newStreamID()}
	p.lanes = append(p.lanes, l)
	return l
}

// disconnect keeps what was not confirmed for the next consumer, or for the other workers.
func (p *producer[M]) disconnect(l *lane[M]) {
	p.ctx.CancelTimer(l.timer())
	l.aimed, l.delay = false, 0
	if !p.pulling {
		return
	}
	p.lanes = slices.DeleteFunc(p.lanes, func(o *lane[M]) bool { return o == l })
	before := fifo[*entry[M]]{items: slices.Clone(l.kept.all())}
	for _, e := range p.backlog.all() {
		before.push(e)
	}
	p.backlog = before
	p.pump()
}

// pump sends what can go.
func (p *producer[M]) pump() {
	for p.backlog.size() > 0 {
		l := p.idlest()
		if l == nil {
			break
		}
		e := p.backlog.pop()
		number := l.push(e)
		reply(e.replyTo, Accepted{number})
		e.replyTo = actor.ActorRef[Accepted]{}
	}
	for _, l := range p.lanes {
		for number, ok := l.next(); ok; number, ok = l.next() {
			p.send(l, number, false)
		}
		p.watchOver(l)
	}
}

// idlest returns the lane with room that has the least to do; nil when none has room.
func (p *producer[M]) idlest() (best *lane[M]) {
	for _, l := range p.lanes {
		if l.room() && (best == nil || l.kept.size() < best.kept.size()) {
			best = l
		}
	}
	return best
}

func (p *producer[M]) send(l *lane[M], number uint64, probe bool) {
	e := l.at(number)
	m := sequenced{
		Stream: l.stream, Aim: l.aimID, From: p.from, First: l.confirmed + 1, Number: number,
		Probe: probe, Durable: p.set.queue != nil,
	}
	if p.ctx.System().Owns(l.consumer) && !e.void {
		m.local = e.msg
	} else {
		m.Payload = p.packed(e)
	}
	m.Void = e.void
	l.consumer.Tell(m)
}

// packed encodes a message once. One that cannot be is a dead letter.
func (p *producer[M]) packed(e *entry[M]) actor.Payload {
	if e.void || e.payload.Type != "" {
		return e.payload
	}
	var err error
	if e.payload, err = actor.Pack(e.msg); err != nil {
		e.void = true
		p.ctx.System().DeadLetter(p.ctx.Self().Path(), e.msg, err)
	}
	return e.payload
}

func (p *producer[M]) onRequest(r request) {
	l := p.lane(r.Aim)
	if l == nil {
		return
	}
	if l.request(r) {
		p.ctx.CancelTimer(l.timer())
		l.delay = 0
	}
	p.pump()
	p.storeConfirmed()
}

// timer is the key of the timer of a lane.
func (l *lane[M]) timer() string { return strconv.FormatUint(l.aimID, 36) }

// watchOver sees that what is unsettled is looked after.
func (p *producer[M]) watchOver(l *lane[M]) {
	if l.unsettled() && l.delay == 0 {
		l.delay = firstResend
		p.ctx.After(l.timer(), l.delay, overdue[M]{l.aimID})
	}
}

// lookAfter sends the first message again for which no confirmation has come, and asks
// what is missing.
func (p *producer[M]) lookAfter(l *lane[M]) {
	if !l.unsettled() {
		l.delay = 0
		return
	}
	p.send(l, l.confirmed+1, true)
	l.delay = min(max(2*l.delay, minResend), maxResend)
	p.ctx.After(l.timer(), l.delay, overdue[M]{l.aimID})
}

// end gives up what nobody keeps.
func (p *producer[M]) end() {
	lost := p.storage.unsaved()
	if p.set.queue == nil {
		for _, l := range p.lanes {
			lost = append(lost, l.kept.all()...)
		}
		lost = append(lost, p.backlog.all()...)
	}
	for _, e := range lost {
		if !e.void {
			p.ctx.System().DeadLetter(p.ctx.Self().Path(), e.msg, fmt.Errorf("%w before it was confirmed", actor.ErrTerminated))
		}
	}
}
