package actor

import (
	"cmp"

	"github.com/understudy-go/understudy/internal/guard"
)

// WithGate lets the actor handle messages only while open returns nil. It is asked before
// each one, inside the actor, so it must be quick. With its first error, or panic, the actor fails,
// whatever supervision says; what waits are dead letters with that error as the reason.
// Signals pass: PostStop is handled.
func WithGate(open func() error) SpawnOption {
	return spawnOption(func(c *spawnConfig) { c.gate = open })
}

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
