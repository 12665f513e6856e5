package actor

import (
	"cmp"

	"github.com/understudy-go/understudy/internal/guard"
)

// shut asks the gate, and ends the actor when it is shut.
func (c *cell[M]) shut() bool {
	reason := c.askGate()
	if reason == nil {
		return false
	}
	c.stopFailed(reason)
	return true
}

// askGate takes a panic for a no.
func (c *cell[M]) askGate() error { return guard.Run(c.conf.gate) }

// reasonOfRest says why what still waits when the actor ends is never handled.
func (c *cell[M]) reasonOfRest() error {
	if c.conf.gate == nil {
		return ErrTerminated
	}
	var reason error
	failure := guard.Apart(c.room.lend(c.owner.lend(func() { reason = c.askGate() }))) // the end must not end half-way
	return cmp.Or(failure, reason, ErrTerminated)
}
