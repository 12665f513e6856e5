package delivery

import (
	"errors"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// An attempt is the worker's having a message. What is said about one that is over does not
// count.
type attempt struct{ failures int } // of the worker at the message, before

// news is what a consumer hears of its worker.
type news struct {
	nothing
	attempt *attempt
	what    occurrence
	err     error
}

type occurrence uint8

const (
	confirmed occurrence = iota // the message has been handled
	failed                      // the worker has failed, and goes on
	missed                      // the worker had no room for the message
)

// retryAfter is when a worker gets a message that it had no room for.
const retryAfter = time.Second

// retry gives a worker the message of an attempt again.
type retry struct {
	nothing
	attempt *attempt
}

func (retry) link() {}

// deliver gives the first that waits to the worker, which has failed at it that often.
func (c *consumer[M]) deliver(failures int) {
	first, own, a := c.waiting.At(0), c.own, &attempt{failures}
	c.attempt = a
	d := Delivery[M]{
		Message: first.msg, Number: first.serial, attempt: a,
		confirm: func() { own.Tell(news{attempt: a, what: confirmed}) },
	}
	extension.Deliver(c.worker, d, func(err error) {
		if failure, ok := errors.AsType[*extension.HandlingError](err); ok && !failure.Ended {
			own.Tell(news{attempt: a, what: failed, err: failure.Err})
		} else if err != nil {
			own.Tell(news{attempt: a, what: missed})
		}
	})
}

// observed returns the worker in such a way that the consumer hears of its restarts, by
// which it forgets what it has put aside.
func (c *consumer[M]) observed(worker actor.Behavior[Delivery[M]]) actor.Behavior[Delivery[M]] {
	own := c.own
	return func(ctx *actor.Context[Delivery[M]], next *actor.Next[Delivery[M]]) {
		var last *attempt
		next.Wrap(c, func(inner actor.MessageHandler[Delivery[M]]) actor.MessageHandler[Delivery[M]] {
			return func(ctx *actor.Context[Delivery[M]], d Delivery[M]) actor.Behavior[Delivery[M]] {
				if d.attempt != nil { // else it is the worker's own, of a timer
					last = d.attempt
				}
				return inner(ctx, d)
			}
		}, func(inner actor.SignalHandler[Delivery[M]]) actor.SignalHandler[Delivery[M]] {
			return func(ctx *actor.Context[Delivery[M]], sig actor.Signal) actor.Behavior[Delivery[M]] {
				if restart, ok := sig.(actor.PreRestart); ok && last != nil {
					own.Tell(news{attempt: last, what: failed, err: restart.Err})
				}
				return inner(ctx, sig)
			}
		})
		worker(ctx, next)
	}
}

// hear takes what the worker has done with the message that it has.
func (c *consumer[M]) hear(n news) {
	if n.attempt != c.attempt {
		return
	}
	switch n.what {
	case confirmed:
		c.settle(extension.ErrorPayload{})
		c.hand()
	case failed:
		c.failed(n.err)
	case missed: // for good, when the worker has ended; the consumer does then
		c.ctx.After("retry", retryAfter, retry{attempt: n.attempt})
	}
}

// failed gives the message to the worker again, unless that is to be given up.
func (c *consumer[M]) failed(err error) {
	failures := c.attempt.failures + 1
	if c.giveUpAfter > 0 && failures >= c.giveUpAfter {
		c.giveUp(err)
		return
	}
	c.deliver(failures)
}
