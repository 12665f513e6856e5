//go:build race || understudy_debug

package actor

import (
	"fmt"
	"sync/atomic"
)

// The use of a Context by another goroutine is noticed.
type owner struct{ goroutine atomic.Uint64 } // 0: no turn

func (o *owner) begin() { o.goroutine.Store(goroutine()) }

func (o *owner) end() { o.goroutine.Store(0) }

// Another goroutine is to call the result in place of the turn's.
func (o *owner) lend(f func()) func() {
	return func() {
		lender := o.goroutine.Load()
		defer o.goroutine.Store(lender)
		o.begin()
		f()
	}
}

func (c *core) check(what string) {
	if a := c.actor(); a.owner.goroutine.Load() != goroutine() {
		panic(fmt.Sprintf("actor: %s with the Context of %s outside of its handlers, by another goroutine or kept by another actor: "+
			"tell the actor a message, or use PipeToSelf or AskToSelf; a goroutine may use the context.Context and refs", what, a.path()))
	}
}

// checkState panics if what mu guards of the actor is in none of the states that the table of cell
// allows. mu is held.
func checkState(c *core) {
	of, ok := c.impl.(*cell)
	if !ok || c.outside {
		return
	}
	b := &of.inbox
	takes := b.conf.box.plain() && b.conf.admission == nil && !c.dead && !c.flags.has(bypassed|resting) && c.stashCap == 0 && obstacleOf(&c.guarded) == nil && c.sys.encoding == nil
	for _, rule := range []struct {
		holds bool
		text  string
	}{
		{c.plain == takes, "plain says whether messages need no check"},
		{c.scheduled || c.suspended || c.dead || c.waiting == 0, "a turn is due for what waits"},
		{c.scheduled || c.dead || !b.systemWaits(), "a turn is due for a system message"},
		{!c.dead || c.waiting == 0 && !b.systemWaits(), "nothing waits for the dead"},
		{!c.over || c.dead || c.flags.has(abandoned), "watchers learn of the end after it"},
		{!c.closed || c.suspended, "what takes no children handles no messages"},
		{!c.flags.has(notStarted) || c.suspended, "what has not started handles no messages"},
		{!c.flags.has(bypassed) || !c.suspended, "a bypass ends before the actor stops or restarts"},
		{c.alone == nothingAlone || c.waiting > 0, "what is alone waits"},
		{0 <= c.exempt && c.exempt <= c.waiting, "what no bound counts waits"},
		{c.exempt == 0 || b.conf.box.capacity > 0, "only a bound counts"},
	} {
		if !rule.holds {
			c.mu.Unlock() // so that a test fails, and does not hang
			panic(fmt.Sprintf("actor: %s is in an impossible state, which is a bug of Understudy: %s: scheduled %t, suspended %t, closed %t, dead %t, over %t, plain %t, alone %d, %d wait, %d exempt",
				c.path(), rule.text, c.scheduled, c.suspended, c.closed, c.dead, c.over, c.plain, c.alone, c.waiting, c.exempt))
		}
	}
}

// restStates are the rows of the table of cell in which a turn may end.
var restStates = map[phase]struct{ suspended, closed, dead bool }{
	running:    {},
	restarting: {suspended: true},
	stopping:   {suspended: true, closed: true},
	stopped:    {suspended: true, closed: true, dead: true},
}

// checkRest panics if a turn of c ends in no row of restStates. core.mu is held.
func checkRest(c *cell) {
	now := struct{ suspended, closed, dead bool }{c.core.suspended, c.core.closed, c.core.dead}
	if legal, rests := restStates[c.core.phase]; (!rests || now != legal) && !c.core.sys.halt.begun.Load() {
		c.core.mu.Unlock() // so that a test fails, and does not hang
		panic(fmt.Sprintf("actor: a turn of %s ends in an impossible state, which is a bug of Understudy: phase %d, %+v", c.core.path(), c.core.phase, now))
	}
}
