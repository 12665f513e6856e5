package actor

import (
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/actorhook"
)

// A pendingAsk is an ask of an actor without an outcome, as an element of a list. The turn owns it.
type pendingAsk struct {
	ask    interface{ abandon(reason error) }
	before *pendingAsk // nil: it is in no list
	after  *pendingAsk
}

// pendingAsks is such a list; the zero value is empty.
type pendingAsks struct{ head pendingAsk }

func (l *pendingAsks) add(p *pendingAsk, ask interface{ abandon(reason error) }) {
	p.ask, p.before, p.after = ask, &l.head, l.head.after
	if p.after != nil {
		p.after.before = p
	}
	l.head.after = p
}

// remove takes p out of its list, if it is in one.
func (p *pendingAsk) remove() {
	if p.before == nil {
		return
	}
	p.before.after = p.after
	if p.after != nil {
		p.after.before = p.before
	}
	p.before, p.after = nil, nil
}

// abandonAll abandons all asks, as the incarnation ends.
func (l *pendingAsks) abandonAll(reason error) {
	for l.head.after != nil {
		p := l.head.after
		p.remove()
		p.ask.abandon(reason)
	}
}

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
