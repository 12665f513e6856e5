package actor

import (
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/actorhook"
)

// A custody is what has become of the request of an ask that is kept until it can be delivered.
type custody struct{ bits atomic.Uint32 }

const (
	custodyHeld   = 1 << iota // somebody keeps the request
	custodyPassed             // and has delivered it
	custodyGone               // the ask has ended by its context or timeout
)

// Hold notes that the request is held.
func (c *custody) Hold() { c.bits.Or(custodyHeld) }

// Pass reports whether the ask still waits, or has its reply.
func (c *custody) Pass() bool { return c.bits.Or(custodyPassed)&custodyGone == 0 }

// giveUp ends the ask, and reports whether its request is withdrawn: it is held, and will not
// be delivered.
func (c *custody) giveUp() bool {
	return c.bits.Or(custodyGone)&(custodyHeld|custodyPassed) == custodyHeld
}

// Withdrawn reports whether the ask has ended by its context or timeout.
func (c *custody) Withdrawn() bool { return c.bits.Load()&custodyGone != 0 }

// Asks implements extension.Hold.
func (s internals) Asks(msg any) (found []actorhook.Ask) {
	for _, c := range s.refsOf(msg) {
		if a, ok := c.impl.(asker); ok {
			found = append(found, a)
		}
	}
	return found
}
