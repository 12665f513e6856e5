package actor

import "sync/atomic"

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

// Hold says that msg, which was told to an actor of this system, waits somewhere until it can be
// delivered, and that [System.Pass] will be asked before it is. It is for extensions that keep
// messages. It may be called again, and by any goroutine.
func (s *System) Hold(msg any) {
	for _, a := range s.askersOf(msg) {
		a.hold()
	}
}

// Pass reports whether msg, which waits since [System.Hold], is to be delivered now. It is not
// when it is the request of an [Ask] or [AskToSelf] of this system that has ended by its context
// or timeout meanwhile; then it is to become a dead letter with [ErrWithdrawn]. Of asks on other
// nodes nothing is known, and the answer is true.
func (s *System) Pass(msg any) bool {
	askers := s.askersOf(msg)
	deliver := len(askers) == 0
	for _, a := range askers {
		deliver = a.pass() || deliver
	}
	return deliver
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
