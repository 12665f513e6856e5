package delivery

import (
	"errors"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// An attempt is one delivery of a message to the worker. Events of an earlier attempt are ignored.
type attempt struct{ failures int } // of the worker at the message before this attempt

// A workerEvent tells a consumer the outcome of an attempt.
type workerEvent struct {
	noPayload
	attempt *attempt
	what    workerOutcome
	err     error
}

type workerOutcome uint8

const (
	confirmed workerOutcome = iota // the message has been handled
	failed                         // the worker has failed, and continues
	missed                         // the worker had no room for the message
)

// retryAfter is how long to wait before a worker gets a message again that it had no room for.
const retryAfter = time.Second

// retry gives a worker the message of an attempt again.
type retry struct {
	noPayload
	attempt *attempt
}

func (retry) link() {}

// deliver hands the oldest message to the worker, which has failed at it failures times.
func (c *consumer[M]) deliver(failures int) {
	first, own, a := c.waiting.At(0), c.own, &attempt{failures}
	c.attempt = a
	d := Delivery[M]{
		Message: first.msg, Number: first.serial, attempt: a,
		confirm: func() { own.Tell(workerEvent{attempt: a, what: confirmed}) },
	}
	extension.DeliverWith(c.worker, d, first.metadata, func(err error) {
		if failure, ok := errors.AsType[*extension.HandlingError](err); ok && !failure.Ended {
			own.Tell(workerEvent{attempt: a, what: failed, err: failure.Err})
		} else if err != nil {
			own.Tell(workerEvent{attempt: a, what: missed})
		}
	})
}

// observed wraps the worker so that the consumer learns of its restarts: a restart loses messages
// that the worker has stashed.
func (c *consumer[M]) observed(worker actor.Behavior[Delivery[M]]) actor.Behavior[Delivery[M]] {
	own := c.own
	return func(ctx *actor.Context[Delivery[M]], next *actor.Next[Delivery[M]]) {
		var last *attempt
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
					own.Tell(workerEvent{attempt: last, what: failed, err: restart.Err})
				}
				return inner(ctx, sig)
			}
		})
		worker(ctx, next)
	}
}

// onWorkerEvent handles the outcome of an attempt.
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
	case missed: // if the worker has ended, the consumer ends too
		c.ctx.After("retry", retryAfter, retry{attempt: n.attempt})
	}
}

// failed hands the message to the worker again, unless it is to be given up.
func (c *consumer[M]) failed(err error) {
	failures := c.attempt.failures + 1
	if c.giveUpAfter > 0 && failures >= c.giveUpAfter {
		c.giveUp(err)
		return
	}
	c.deliver(failures)
}
