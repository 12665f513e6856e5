package actor

import (
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/actorhook"
)

// custody is the state of the request of an ask, which an extension may hold until it can be
// delivered. It implements [actorhook.Ask].
type custody struct{ bits atomic.Uint32 }

const (
	custodyHeld   = 1 << iota // an extension holds the request
	custodyPassed             // the request has been passed on
	custodyGone               // the ask has ended by its context or timeout
)

// Hold notes that the request is held.
func (c *custody) Hold() { c.bits.Or(custodyHeld) }

// Pass notes that the request is about to be delivered. It returns false if the ask has been given
// up.
func (c *custody) Pass() bool { return c.bits.Or(custodyPassed)&custodyGone == 0 }

// giveUp notes that the ask has ended. It reports whether its request is withdrawn: held, and never
// delivered.
func (c *custody) giveUp() bool {
	return c.bits.Or(custodyGone)&(custodyHeld|custodyPassed) == custodyHeld
}

// Withdrawn reports whether the ask has been given up.
func (c *custody) Withdrawn() bool { return c.bits.Load()&custodyGone != 0 }

// Asks implements extension.Hold.
func (s internals) Asks(msg any) (found []actorhook.Ask) {
	for _, c := range s.refsOf(msg) {
		if a := askerOf(c); a != nil {
			found = append(found, a)
		}
	}
	return found
}
