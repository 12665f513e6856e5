package membership

import "time"

// A calm is for how long the members and who is unreachable have not changed, and since
// when there has been trouble.
type calm struct {
	since   time.Time // the last change
	shaken  time.Time // the last change of who is lost
	trouble trouble
	marks   map[ID]mark
}

// A trouble begins when a member is lost.
type trouble struct {
	began  time.Time      // zero when there is none
	spread time.Time      // when it last reached somebody who had been well
	hit    map[string]int // how often, where those lived; a process that is started again is no other
}

// A mark is what a strategy's decision depends on.
type mark struct{ joining, unreachable bool }

// lost reports whether the cluster suffers: who has never been up is not missed.
func (k mark) lost() bool { return k.unreachable && !k.joining }

// note compares a table with the one before. Members that leave and those that are
// removed do not disturb the calm; nor do those that join, once somebody is lost: none of
// them becomes up before that is over, and a process that is started again and again must
// not keep the others from a decision.
func (c *calm) note(t table, now time.Time) {
	unreachable := t.unreachable()
	marks := map[ID]mark{}
	suffers := false
	for id, m := range t.members {
		if m.Status < Exiting {
			marks[id] = mark{joining: m.UpNumber == 0, unreachable: len(unreachable[id]) > 0}
			suffers = suffers || marks[id].lost()
		}
	}
	for id, k := range marks {
		before, known := c.marks[id]
		if (!known || before != k) && (!suffers || !k.joining) {
			c.since = now
		}
		if before.lost() != k.lost() {
			c.shaken = now
		}
	}
	c.noteTrouble(marks, now)
	c.marks = marks
}

// noteTrouble: trouble is over when the last who was lost has been taken down; that those
// are reachable again may be a pause only.
func (c *calm) noteTrouble(marks map[ID]mark, now time.Time) {
	suffers := false
	for id, k := range marks {
		if k.lost() {
			suffers = true
			c.trouble.hits(id.Address, !c.marks[id].lost(), now)
		}
	}
	if suffers {
		return
	}
	for id, k := range c.marks {
		if _, left := marks[id]; k.lost() && !left {
			c.trouble = trouble{}
		}
	}
}

// hits notes that somebody is lost, and was not just before. Who is lost a second time has
// stumbled before it fell; who is lost more often than that brings nothing new.
func (t *trouble) hits(address string, anew bool, now time.Time) {
	if t.began.IsZero() {
		*t = trouble{began: now, hit: map[string]int{}}
	}
	if !anew {
		return
	}
	if t.hit[address]++; t.hit[address] <= 2 {
		t.spread = now
	}
}

// rest ends the trouble when nobody has been lost for some time.
func (c *calm) rest(now time.Time, after time.Duration) {
	for _, k := range c.marks {
		if k.lost() {
			return
		}
	}
	if now.Sub(c.shaken) >= after {
		c.trouble = trouble{}
	}
}

// troubled is for how long there has been trouble, and how long ago it last spread.
func (c *calm) troubled(now time.Time) (since, spread time.Duration) {
	if c.trouble.began.IsZero() {
		return 0, 0
	}
	return now.Sub(c.trouble.began), now.Sub(c.trouble.spread)
}
