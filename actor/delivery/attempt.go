package delivery

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// An attempt is one delivery of a message to the worker. Events of an earlier attempt are ignored.
type attempt struct{ failures int } // of the worker at the message before this attempt

type workerEvent struct {
	attempt *attempt
	what    workerOutcome
	err     error
}

type workerOutcome uint8

const (
	confirmed workerOutcome = iota
	failed
	missed  // the worker had no room for the message
	refused // the message is the request of an ask that has ended, or that could not be answered in time
)

const retryAfter = time.Second

type retry struct {
	noPayload
	attempt *attempt
}

func (retry) link() {}

func (c *consumer[M]) deliver(failures int) {
	first, a := c.waiting.At(0), &attempt{failures}
	c.try(a)
	c.missed = false
	d := Delivery[M]{
		Message: first.msg, Number: first.serial, Numbering: numberingOf(first.stream), attempt: a,
		confirm: func() { c.events.add(workerEvent{attempt: a, what: confirmed}) },
	}
	extension.DeliverWith(c.worker, d, first.metadata, func(err error) {
		if failure, ok := errors.AsType[*extension.HandlingError](err); ok && !failure.Ended {
			c.events.add(workerEvent{attempt: a, what: failed, err: failure.Err})
		} else if errors.Is(err, actor.ErrWithdrawn) || errors.Is(err, actor.ErrOverloaded) {
			c.events.add(workerEvent{attempt: a, what: refused, err: err})
		} else if err != nil {
			c.events.add(workerEvent{attempt: a, what: missed})
		}
	})
}

// While an attempt is under way, the actor is not idle.
func (c *consumer[M]) try(a *attempt) {
	before := c.attempt
	c.attempt = a
	switch {
	case before == nil && a != nil:
		extension.Awaits(c.ctx, 1)
	case before != nil && a == nil:
		extension.Awaits(c.ctx, -1)
	}
}

// A restart of the worker loses messages that it has stashed.
func (c *consumer[M]) observed(worker actor.Behavior[Delivery[M]]) actor.Behavior[Delivery[M]] {
	return func(ctx *actor.Context[Delivery[M]], next *actor.Next[Delivery[M]]) {
		var last *attempt
		c.begun(ctx.Self())
		next.Wrap(c, func(inner actor.MessageHandler[Delivery[M]]) actor.MessageHandler[Delivery[M]] {
			return func(ctx *actor.Context[Delivery[M]], d Delivery[M]) actor.Behavior[Delivery[M]] {
				if d.attempt != nil { // else the worker sent it to itself, by a timer
					last = d.attempt
				}
				return inner(ctx, d)
			}
		}, func(inner actor.SignalHandler[Delivery[M]]) actor.SignalHandler[Delivery[M]] {
			return func(ctx *actor.Context[Delivery[M]], sig actor.Signal) actor.Behavior[Delivery[M]] {
				if restart, ok := sig.(actor.PreRestart); ok && last != nil {
					c.events.add(workerEvent{attempt: last, what: failed, err: restart.Err})
				}
				return inner(ctx, sig)
			}
		})
		worker(ctx, next)
	}
}

// If the worker has been restarted, so has the actor, which ends watches and timers.
func (c *consumer[M]) begun(worker actor.ActorRef[Delivery[M]]) {
	c.worker = worker
	for name, s := range c.streams {
		c.watch(name, s)
	}
	if c.attempt != nil && c.missed {
		c.deliver(c.attempt.failures)
	}
}

func (c *consumer[M]) onWorkerEvents() {
	for _, n := range c.events.take() {
		c.onWorkerEvent(n)
	}
}

// Any goroutine may add one.
type workerEvents struct {
	notify func()

	mu  sync.Mutex
	all []workerEvent
}

func (e *workerEvents) add(n workerEvent) {
	e.mu.Lock()
	e.all = append(e.all, n)
	e.mu.Unlock()
	e.notify()
}

func (e *workerEvents) take() []workerEvent {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.all
	e.all = nil
	return all
}

func (c *consumer[M]) onWorkerEvent(n workerEvent) {
	if n.attempt != c.attempt {
		return
	}
	switch n.what {
	case confirmed:
		c.settle(extension.ErrorPayload{})
		c.deliverNext()
	case failed:
		c.failed(n.err)
	case refused:
		c.reject(n.err)
	case missed: // if the worker has ended, the consumer ends too
		c.missed = true
		c.ctx.After("retry", retryAfter, retry{attempt: n.attempt})
	}
}

func (c *consumer[M]) failed(err error) {
	failures := c.attempt.failures + 1
	if c.attempts > 0 && failures >= c.attempts {
		c.counts.givenUp.Add(1)
		c.reject(fmt.Errorf("%w: %w", ErrGivenUp, err))
		return
	}
	c.deliver(failures)
}
