package actor

import (
	"math"
	"slices"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/metadata"
)

func (r refInternals) Deliver(msg any, m metadata.Metadata, done func(err error)) {
	if r.c == nil {
		done(ErrNoRef)
		return
	}
	c, ok := r.c.impl.(*cell)
	if !ok || c.box.takes(msg) != nil {
		done(ErrNoSuchActor)
		return
	}
	copied, err := carried(r.c, msg)
	if err != nil {
		done(err)
		return
	}
	c.post(item{task: &delivered{to: r.c, msg: copied, done: done}}, entrance{parked: true, metadata: m})
}

type delivered struct {
	to   *core
	msg  any
	done func(error)
}

func (d *delivered) run(c *cell) {
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

// Unlike handleMessage it returns the failure instead of failing the actor.
func (d *delivered) handle(c *cell) (failure error) {
	if in := c.inner(); in != nil {
		in.told(d.msg)
	}
	if c.timers.idle != nil {
		c.timers.idle.told(d.msg)
	}
	b := c.box.receive(d.msg)
	if b == nil {
		return nil
	}
	handled := c.box.become(b, func(n *next) bool {
		if failure = n.failure(); failure == nil {
			d.tell(nil) // now, as it may be the end
		}
		return failure == nil // stay, until it is decided what to do about it
	})
	if !handled {
		c.unhandled(d.msg)
	}
	return failure
}

// fail reports whether that ends the actor before its watchers learn of the end.
func (d *delivered) fail(c *cell, err error) {
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

// The failure may have been reported before.
func (d *delivered) tellAtTheEnd(c *cell, err error) {
	c.core.deferred().add(cleanup{depth: math.MaxInt, run: func() {
		d.tell(&actorhook.HandlingError{Err: err, Ended: c.core.actor().phase >= stopping})
	}})
}

func (d *delivered) tell(err error) {
	done := d.done
	if done == nil {
		return
	}
	d.done = nil
	if panicked := guard.Do(func() { done(err) }); panicked != nil {
		d.to.logOutside("function given to Deliver", panicked)
	}
}

func (d *delivered) delivering() (kind string, msg any) {
	return actorhook.ShortName(d.to.impl.(*cell).messageType()), d.msg
}

func (d *delivered) exempt() bool { return false }

func (d *delivered) undelivered() (any, bool) { return nil, false }

func (d *delivered) abandon(reason error) { d.tell(reason) }
