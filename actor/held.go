package actor

import (
	"slices"
	"sync/atomic"
)

// A custody is what has become of the request of an ask that is kept until it can be delivered.
type custody struct{ bits atomic.Uint32 }

const (
	custodyHeld   = 1 << iota // somebody keeps the request
	custodyPassed             // and has delivered it
	custodyGone               // the ask has ended by its context or timeout
)

func (c *custody) hold() { c.bits.Or(custodyHeld) }

// pass reports whether the ask still waits, or has its reply.
func (c *custody) pass() bool { return c.bits.Or(custodyPassed)&custodyGone == 0 }

// giveUp ends the ask, and reports whether its request is withdrawn: it is held, and will not
// be delivered.
func (c *custody) giveUp() bool {
	return c.bits.Or(custodyGone)&(custodyHeld|custodyPassed) == custodyHeld
}

// withdrawn reports whether the ask has ended by its context or timeout.
func (c *custody) withdrawn() bool { return c.bits.Load()&custodyGone != 0 }

// A Held is a message that waits until it can be delivered, see [Hold]. Without Hold it is one that
// no ask is known of.
type Held[M any] struct {
	Message M
	askers  []asker
}

// Hold says that msg, which was told to an actor of s, waits somewhere until it can be delivered,
// and that [Held.Pass] will be asked before it is. It is for extensions that keep messages. It may
// be called again, and by any goroutine.
func Hold[M any](s *System, msg M) Held[M] {
	h := Held[M]{Message: msg, askers: s.askersOf(msg)}
	for _, a := range h.askers {
		a.hold()
	}
	return h
}

// Pass reports whether the message is to be delivered now. It is not when it is the request of an
// [Ask] or [AskToSelf] of the system that holds it, and that has ended by its context or timeout
// meanwhile; then it is to become a dead letter with [ErrWithdrawn]. Of asks on other nodes
// nothing is known, and the answer is true.
func (h Held[M]) Pass() bool {
	deliver := len(h.askers) == 0
	for _, a := range h.askers {
		deliver = a.pass() || deliver
	}
	return deliver
}

// Withdrawn reports whether Pass would be false, and always will be: where there is no room for
// another message, this one can make some.
func (h Held[M]) Withdrawn() bool {
	return len(h.askers) > 0 && !slices.ContainsFunc(h.askers, func(a asker) bool { return !a.withdrawn() })
}

// askersOf returns the asks of this system to whose replies the refs in msg belong.
func (s *System) askersOf(msg any) (found []asker) {
	for _, c := range s.refsOf(msg) {
		if a, ok := c.impl.(asker); ok {
			found = append(found, a)
		}
	}
	return found
}
