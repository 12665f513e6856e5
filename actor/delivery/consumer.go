package delivery

import (
	"fmt"
	"reflect"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/internal/window"
)

// Consumer returns the receiving end: it hands messages to worker, a behavior of the same actor,
// which confirms each. The consumer ends with the worker. Its options are [Window], [Attempts]
// and [MaxBytes]. A producer gets it by [Connect]; one consumer may serve several producers.
//
// Supervise the worker, not the consumer, to keep what the consumer knows when the worker restarts.
func Consumer[M any](worker actor.Behavior[Delivery[M]], opts ...Option) actor.Behavior[Link[M]] {
	set := settingsOf(opts)
	return func(ctx *actor.Context[Link[M]], next *actor.Next[Link[M]]) {
		c := &consumer[M]{ctx: ctx, counts: countsOf[M](ctx.System()), window: uint64(set.window), attempts: set.attempts, maxBytes: set.gathered(), streams: make(map[string]*stream)}
		c.events.notify = ctx.Notify(func() actor.Behavior[Link[M]] {
			c.onWorkerEvents()
			return nil
		})
		ctx.Defer(c.end)
		next.Wrap(c, c.around, nil)
		actor.Transform(c.observed(worker), directly[M])(ctx, next)
	}
}

type consumer[M any] struct {
	ctx      *actor.Context[Link[M]]
	worker   actor.ActorRef[Delivery[M]]
	events   workerEvents
	counts   *counts
	window   uint64
	attempts int
	maxBytes int // of a message in parts
	streams  map[string]*stream
	waiting  fifo.Queue[arrival[M]]
	attempt  *attempt // the worker has the first that waits; nil: it has none
	missed   bool     // the worker had no room for it
}

func (c *consumer[M]) around(worker actor.MessageHandler[Link[M]]) actor.MessageHandler[Link[M]] {
	return func(ctx *actor.Context[Link[M]], msg Link[M]) actor.Behavior[Link[M]] {
		if _, direct := msg.(Direct[M]); direct {
			return worker(ctx, msg)
		}
		c.handle(msg)
		return nil
	}
}

func directly[M any](msg Link[M]) (Delivery[M], bool) {
	d, direct := msg.(Direct[M])
	return Delivery[M]{Message: d.Message}, direct
}

type arrival[M any] struct {
	stream   string
	number   uint64
	serial   uint64 // the worker's number
	msg      M
	void     bool                   // there is no message to hand to the worker
	why      extension.ErrorPayload // why it cannot be handled, for the producer
	flowOnly bool                   // the producer does not keep it
	metadata extension.Metadata
}

type producerEnded struct {
	noPayload
	stream string
}

func (producerEnded) link() {}

func (c *consumer[M]) handle(msg Link[M]) {
	switch msg := msg.(type) {
	case sequenced:
		c.receive(msg)
	case producerEnded:
		if s := c.streams[msg.stream]; s != nil && !s.durable {
			delete(c.streams, msg.stream)
		}
	case retry:
		if msg.attempt == c.attempt {
			c.deliver(msg.attempt.failures)
		}
	}
}

func (c *consumer[M]) receive(m sequenced) {
	if m.First == 0 || m.Number < m.First || m.From == (actor.ActorRef[request]{}) {
		c.ctx.Log().Debug("malformed delivery", zap.Uint64("first_message", m.First), zap.Uint64("message", m.Number))
		return
	}
	// Room is checked before the message changes the stream: what is refused must look to the
	// stream as if it had been lost on the way, so that the producer sends it again.
	s := c.meet(m)
	if s.waiting >= mostWaiting*c.window { // its First is not to be trusted either
		c.refuse(m)
		return
	}
	if s.begin(m.Connection, m.First); s.Refusals() >= mostRefused {
		c.refuse(m)
		return
	}
	switch s.take(m) {
	case ignore:
	case answer:
		s.from.TellNoWait(s.report(false))
	case again:
		s.from.TellNoWait(s.report(true))
	case accept:
		if s.join(&m, c.maxBytes) {
			s.waiting++
			c.put(m, s.failure)
		}
		c.report(s)
		c.deliverNext()
	}
}

// A producer that keeps it sends it again.
func (c *consumer[M]) refuse(m sequenced) {
	if !m.FlowOnly || m.Void {
		return
	}
	var content any = m.Payload
	if m.Payload.Type == "" {
		content = m.local
	}
	extension.DeadLetter(c.ctx.System(), c.ctx.Self().Path(), content, ErrTooMany)
}

// A non-nil err says why it is refused already.
func (c *consumer[M]) put(m sequenced, err error) {
	msg, content := *new(M), any(extension.Payload{Type: m.Payload.Type})
	if err == nil && !m.Void {
		msg, content, err = c.content(m)
	}
	serial := m.Serial
	if serial == 0 {
		serial = m.Number
	}
	if err != nil {
		extension.DeadLetter(c.ctx.System(), c.ctx.Self().Path(), content, err)
	}
	c.waiting.Push(arrival[M]{m.Stream, m.Number, serial, msg, m.Void || err != nil, window.ReasonOf(err), m.FlowOnly, extension.MetadataOf(c.ctx).Unsealed()})
}

func (c *consumer[M]) meet(m sequenced) *stream {
	s := c.streams[m.Stream]
	if s == nil {
		c.forget(ownerOf(m.Stream))
		s = &stream{inbox: inbox{window: c.window}}
		c.streams[m.Stream] = s
	}
	if s.from != m.From {
		c.unwatch(s)
		s.from, s.durable, s.byID = m.From, m.Durable, m.ByID
		c.watch(m.Stream, s)
	}
	return s
}

// A producer that sends by id has many consumers, which it does not tell of its end.
func (c *consumer[M]) watch(name string, s *stream) {
	if !s.byID {
		c.ctx.Unwatch(s.from) // another stream of the same actor
		c.ctx.WatchWith(s.from, producerEnded{stream: name})
	}
}

func (c *consumer[M]) unwatch(s *stream) {
	if !s.byID && s.from != (actor.ActorRef[request]{}) {
		c.ctx.Unwatch(s.from)
	}
}

// The producer has restarted or was disconnected meanwhile.
func (c *consumer[M]) forget(owner string) {
	for name, s := range c.streams {
		if owner != "" && ownerOf(name) == owner && !s.durable {
			c.unwatch(s)
			delete(c.streams, name)
		}
	}
}

// If err is not nil, content is for the dead letter.
func (c *consumer[M]) content(m sequenced) (msg M, content any, err error) {
	v := m.local
	if v == nil && m.Payload.Type == "" && reflect.TypeFor[M]().Kind() == reflect.Interface {
		return msg, nil, nil // a nil, which Tell delivers too
	}
	if m.Payload.Type != "" {
		if v, err = extension.Unpack(c.ctx.System(), m.Payload); err != nil {
			return msg, m.Payload, err
		}
	}
	msg, ok := v.(M)
	if !ok {
		return msg, v, fmt.Errorf("%w: it is a %T, the consumer takes %v", actor.ErrWrongType, v, reflect.TypeFor[M]())
	}
	return msg, nil, nil
}

func (c *consumer[M]) deliverNext() {
	for c.attempt == nil && c.waiting.Len() > 0 {
		if next := c.waiting.At(0); next.void {
			c.settle(next.why)
			continue
		}
		c.deliver(0)
	}
}

// The message was handled, unless why says why it is refused.
func (c *consumer[M]) settle(why extension.ErrorPayload) {
	c.try(nil)
	done := c.waiting.Pop()
	s := c.streams[done.stream]
	if s == nil {
		return
	}
	s.waiting -= min(s.waiting, 1) // the message may be older than s
	if why.Failed && !done.flowOnly {
		s.Refuse(done.number, why)
	}
	s.Handled(done.number)
	c.report(s)
}

func (c *consumer[M]) reject(err error) {
	extension.DeadLetter(c.ctx.System(), c.ctx.Self().Path(), c.waiting.At(0).msg, err)
	c.settle(window.ReasonOf(err))
	c.deliverNext()
}

// Producers learn which messages were confirmed, so that no other consumer gets them again. A
// producer that sends by id sends the others again at once, to the next incarnation. Messages that
// their producer does not keep are lost.
func (c *consumer[M]) end() {
	c.try(nil)
	for _, s := range c.streams {
		switch {
		case s.byID && s.Received() > s.UpTo():
			r := s.report(true)
			r.Received = r.Confirmed
			s.from.TellNoWait(r)
		case s.UpTo() > s.reported.Confirmed:
			s.from.TellNoWait(s.report(false))
		}
	}
	for _, a := range c.waiting.All() {
		if a.flowOnly && !a.void {
			extension.DeadLetter(c.ctx.System(), c.ctx.Self().Path(), a.msg, errEnded)
		}
	}
}

func (c *consumer[M]) report(s *stream) {
	if s.due() {
		s.from.TellNoWait(s.report(false))
	}
}
