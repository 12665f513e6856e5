package delivery

import (
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
)

// maxFailures is how often a worker may fail at a message before it is given up.
const maxFailures = 10

// Consumer is the receiving end: it hands messages to a worker, its child, which confirms
// each. It ends with the worker. [Window] is an option of it; producers are told of it by
// [Connect], and one consumer may have several.
func Consumer[M any](worker actor.Behavior[Delivery[M]], opts ...Option) actor.Behavior[Link[M]] {
	set := settingsOf(opts)
	return func(ctx *actor.Context[Link[M]], next *actor.Next[Link[M]]) {
		c := &consumer[M]{ctx: ctx, window: uint64(set.window), streams: make(map[string]*stream)}
		c.worker = actor.Spawn(ctx, worker, "worker")
		ctx.WatchWith(c.worker, workerEnded{})
		next.OnMessage = c.handle
		ctx.Defer(c.end)
	}
}

type consumer[M any] struct {
	ctx      *actor.Context[Link[M]]
	worker   actor.ActorRef[Delivery[M]]
	window   uint64
	streams  map[string]*stream
	waiting  fifo[arrival[M]] // the first is the worker's, if busy
	busy     bool
	turn     uint64 // counts what the worker was given
	failures int    // of the worker, at this turn
}

// A stream is what comes from one producer.
type stream struct {
	inbox
	from    actor.ActorRef[request]
	durable bool
}

// An arrival is a message in its place.
type arrival[M any] struct {
	stream string
	number uint64
	msg    M
	void   bool
}

type (
	workerEnded   struct{}                // the worker has ended
	producerEnded struct{ stream string } // the producer of a stream has
	confirmation  struct{ turn uint64 }   // by the worker
	failure       struct {                // of the worker
		turn uint64
		err  error
	}
)

func (workerEnded) link()   {}
func (producerEnded) link() {}
func (confirmation) link()  {}
func (failure) link()       {}

func (c *consumer[M]) handle(_ *actor.Context[Link[M]], msg Link[M]) actor.Behavior[Link[M]] {
	switch msg := msg.(type) {
	case sequenced:
		c.receive(msg)
	case confirmation:
		if c.busy && msg.turn == c.turn {
			c.confirmed()
		}
	case failure:
		if c.busy && msg.turn == c.turn {
			c.failed(msg.err)
		}
	case producerEnded:
		if s := c.streams[msg.stream]; s != nil && !s.durable {
			delete(c.streams, msg.stream)
		}
	case workerEnded:
		return func(_ *actor.Context[Link[M]], next *actor.Next[Link[M]]) { next.Stop() }
	}
	return nil
}

func (c *consumer[M]) receive(m sequenced) {
	if m.First == 0 || m.Number < m.First {
		c.ctx.Log().Debug("malformed delivery", zap.Uint64("first", m.First), zap.Uint64("number", m.Number))
		return
	}
	s := c.meet(m)
	switch s.take(m.Aim, m.First, m.Number, m.Probe) {
	case ignore:
	case answer:
		s.from.Tell(s.say(false))
	case again:
		s.from.Tell(s.say(true))
	case accept:
		msg, ok := c.content(m)
		c.waiting.push(arrival[M]{m.Stream, m.Number, msg, !ok})
		c.report(s)
		c.hand()
	}
}

// meet returns the stream of a message, and where to answer.
func (c *consumer[M]) meet(m sequenced) *stream {
	s := c.streams[m.Stream]
	if s == nil {
		s = &stream{inbox: inbox{window: c.window}}
		c.streams[m.Stream] = s
	}
	if s.from != m.From {
		s.from, s.durable = m.From, m.Durable
		c.ctx.WatchWith(m.From, producerEnded{m.Stream})
	}
	return s
}

func (c *consumer[M]) content(m sequenced) (msg M, ok bool) {
	if m.Void {
		return msg, false
	}
	v := m.local
	if m.Payload.Type != "" {
		var err error
		if v, err = m.Payload.Unpack(c.ctx.System()); err != nil {
			c.ctx.System().DeadLetter(c.worker.Path(), m.Payload, err)
			return msg, false
		}
	}
	if msg, ok = v.(M); !ok {
		c.ctx.System().DeadLetter(c.worker.Path(), v, actor.ErrWrongType)
	}
	return msg, ok
}

// hand gives the worker the next message, if it has none.
func (c *consumer[M]) hand() {
	for !c.busy && c.waiting.size() > 0 {
		c.busy, c.failures = true, 0
		c.turn++
		if c.waiting.at(0).void {
			c.confirmedFirst()
			continue
		}
		c.deliver()
	}
}

func (c *consumer[M]) deliver() {
	first, turn, self := c.waiting.at(0), c.turn, c.ctx.Self()
	d := Delivery[M]{Message: first.msg, Number: first.number, confirm: func() { self.Tell(confirmation{turn}) }}
	c.worker.Deliver(d, func(err error) {
		if err != nil {
			self.Tell(failure{turn, err})
		}
	})
}

func (c *consumer[M]) confirmed() {
	c.confirmedFirst()
	c.hand()
}

func (c *consumer[M]) confirmedFirst() {
	c.busy = false
	done := c.waiting.pop()
	if s := c.streams[done.stream]; s != nil {
		s.confirm(done.number)
		c.report(s)
	}
}

// end tells producers of what has been confirmed, so that no other consumer gets it again.
func (c *consumer[M]) end() {
	for _, s := range c.streams {
		if s.confirmed > s.told.Confirmed {
			s.from.Tell(s.say(false))
		}
	}
}

func (c *consumer[M]) report(s *stream) {
	if s.due() {
		s.from.Tell(s.say(false))
	}
}

// failed gives the message to the worker again, which was restarted, unless that does not
// help. When the worker has ended, so does the consumer.
func (c *consumer[M]) failed(err error) {
	failed, ok := errors.AsType[*actor.HandlingError](err)
	if !ok || failed.Ended {
		return
	}
	if c.failures++; c.failures < maxFailures {
		c.deliver()
		return
	}
	c.ctx.System().DeadLetter(c.worker.Path(), c.waiting.at(0).msg, fmt.Errorf("%w: %w", ErrGivenUp, failed.Err))
	c.confirmed()
}
