//go:build race || understudy_debug

package actor

import "fmt"

// It panics if what mu guards of the actor is in none of the states that the table of cell allows.
// mu is held.
func checkState(c *core) {
	of, ok := c.impl.(*cell)
	if !ok || c.outside {
		return
	}
	b := &of.inbox
	takes := b.conf.box.plain() && b.conf.admission == nil && !c.dead && !c.flags.has(bypassed|resting) && c.stashCap == 0 && c.sys.encoding == nil
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
		{!c.flags.has(unborn) || c.suspended, "what has not started handles no messages"},
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
