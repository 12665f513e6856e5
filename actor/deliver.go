package actor

import (
	"math"
	"reflect"
	"slices"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/metadata"
)

// Deliver implements extension.Deliver.
func (r refInternals[M]) Deliver(msg M, m metadata.Metadata, done func(err error)) {
	if r.c == nil {
		done(ErrNoRef)
		return
	}
	var take func(*core, M, metadata.Metadata, func(error))
	if in := inletOf(r.c); in != nil {
		take, _ = in.take.(func(*core, M, metadata.Metadata, func(error)))
	}
	if take == nil {
		done(ErrNoSuchActor)
		return
	}
	copied, err := carried(r.c, msg)
	if err != nil {
		done(err)
		return
	}
	take(r.c, copied, m, done)
}

// takeDelivered puts a message of Deliver into the mailbox of c.
func takeDelivered[M any](c *core, msg M, m metadata.Metadata, done func(err error)) {
	postDelivered(c.impl.(*cell[M]), msg, m, done) // what has this port is a cell
}

func postDelivered[M any](c *cell[M], msg M, m metadata.Metadata, done func(err error)) {
	c.post(item[M]{task: &delivered[M]{to: &c.core, msg: msg, done: done}}, entrance{parked: true, metadata: m})
}

type delivered[M any] struct {
	to   *core
	msg  M
	done func(error)
}

func (d *delivered[M]) run(c *cell[M]) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if r := recover(); r != nil {
			d.fail(c, guard.Recovered(r))
			return
		}
		d.tellAtTheEnd(c, guard.ErrGoexit) // the turn ends the actor
	}()
	err := d.handle(c)
	returned = true
	if err != nil {
		d.fail(c, err)
		return
	}
	d.tell(nil)
}

// handle handles the message as handleMessage does, but returns the failure instead of failing the
// actor.
func (d *delivered[M]) handle(c *cell[M]) (failure error) {
	if outer := c.outer(); outer != nil {
		outer.told(d.msg)
	}
	if c.timers.idle != nil {
		c.timers.idle.told(d.msg)
	}
	next := c.onMessage(current(c), d.msg)
	if next == nil {
		return nil
	}
	handled := c.become(func(ctx *Context[M], n *Next[M]) {
		next(ctx, n)
		if n.err() == nil {
			d.tell(nil) // now, as it may be the end
			return
		}
		failure = n.err()
		*n = Next[M]{cell: c} // stay, until it is decided what to do about it
	})
	if !handled {
		c.unhandled(d.msg)
	}
	return failure
}

// fail fails the actor, and reports whether that ends it before its watchers learn of the end.
func (d *delivered[M]) fail(c *cell[M], err error) {
	deferred, of := c.core.deferred(), c.core.actor()
	last := len(*deferred)
	d.tellAtTheEnd(c, err)
	c.fail(err)
	if d.done == nil {
		return
	}
	if of.phase == running {
		*deferred = slices.Delete(*deferred, last, last+1)
	}
	d.tell(&actorhook.HandlingError{Err: err, Ended: of.phase >= stopping})
}

// tellAtTheEnd reports the failure when the incarnation ends, unless that happened before.
func (d *delivered[M]) tellAtTheEnd(c *cell[M], err error) {
	c.core.deferred().add(cleanup{depth: math.MaxInt, run: func() {
		d.tell(&actorhook.HandlingError{Err: err, Ended: c.core.actor().phase >= stopping})
	}})
}

func (d *delivered[M]) tell(err error) {
	done := d.done
	if done == nil {
		return
	}
	d.done = nil
	if panicked := guard.Do(func() { done(err) }); panicked != nil {
		d.to.logOutside("function given to Deliver", panicked)
	}
}

func (d *delivered[M]) delivering() (kind string, msg any) {
	return actorhook.ShortName(reflect.TypeFor[M]()), d.msg
}

func (d *delivered[M]) exempt() bool { return false }

func (d *delivered[M]) undelivered() (any, bool) { return nil, false }

// abandon reports that the message will never be handled.
func (d *delivered[M]) abandon(reason error) { d.tell(reason) }
