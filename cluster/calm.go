package cluster

import "time"

// A calm is for how long the members and who is unreachable have not changed, and since
// when there has been trouble.
type calm struct {
	since  time.Time // the last change
	shaken time.Time // the last change of who is unreachable
	began  time.Time // when somebody became unreachable first; zero when that is over
	marks  map[ID]mark
}

// A mark is what a strategy's decision depends on.
type mark struct{ joining, unreachable bool }

// note compares a table with the one before. Members that leave and those that are
// removed do not disturb the calm.
func (c *calm) note(t table, now time.Time) {
	unreachable := t.unreachable()
	marks := map[ID]mark{}
	for id, m := range t.members {
		if m.Status < Exiting {
			marks[id] = mark{joining: m.Status == Joining, unreachable: len(unreachable[id]) > 0}
		}
	}
	for id, k := range marks {
		before, known := c.marks[id]
		if !known || before != k {
			c.since = now
		}
		if before.unreachable != k.unreachable {
			c.shaken = now
		}
	}
	c.noteTrouble(marks, now)
	c.marks = marks
}

// noteTrouble: trouble begins when somebody becomes unreachable. It is over when the last
// who was has been taken down; that those are reachable again may be a pause only.
func (c *calm) noteTrouble(marks map[ID]mark, now time.Time) {
	for _, k := range marks {
		if k.unreachable {
			if c.began.IsZero() {
				c.began = now
			}
			return
		}
	}
	for id, k := range c.marks {
		if _, left := marks[id]; k.unreachable && !left {
			c.began = time.Time{}
		}
	}
}

// rest ends the trouble when all have been reachable for some time.
func (c *calm) rest(now time.Time, after time.Duration) {
	for _, k := range c.marks {
		if k.unreachable {
			return
		}
	}
	if now.Sub(c.shaken) >= after {
		c.began = time.Time{}
	}
}

// troubled is for how long there has been trouble.
func (c *calm) troubled(now time.Time) time.Duration {
	if c.began.IsZero() {
		return 0
	}
	return now.Sub(c.began)
}
