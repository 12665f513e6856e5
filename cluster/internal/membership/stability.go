package membership

import "time"

// A stability measures for how long neither the members nor their reachability have changed, and
// for how long members have been lost.
type stability struct {
	since       time.Time // the last change
	lossChanged time.Time // the last change of the set of lost members
	instability instability
	conditions  map[ID]condition
}

type instability struct {
	began  time.Time      // zero without an instability
	spread time.Time      // the last time that an address was lost for the first or second time
	losses map[string]int // losses by address; a restarted process counts under the same address
}

type condition struct{ joining, unreachable bool }

// lost reports whether the cluster misses the member. A member that has never been up is not
// missed.
func (k condition) lost() bool { return k.unreachable && !k.joining }

// note compares a table with the one before. Members that leave and members that are removed do
// not end the stable period. Joining members do not end it either while a member is lost. None
// of them becomes up before that is over, and a process that restarts again and again must not
// delay the decision of the others.
func (c *stability) note(t table, now time.Time) {
	unreachable := t.unreachable()
	conditions := map[ID]condition{}
	suffers := false
	for id, m := range t.members {
		if m.Status < Exiting {
			conditions[id] = condition{joining: m.UpNumber == 0, unreachable: len(unreachable[id]) > 0}
			suffers = suffers || conditions[id].lost()
		}
	}
	for id, k := range conditions {
		before, known := c.conditions[id]
		if (!known || before != k) && (!suffers || !k.joining) {
			c.since = now
		}
		if before.lost() != k.lost() {
			c.lossChanged = now
		}
	}
	c.noteInstability(conditions, now)
	c.conditions = conditions
}

// noteInstability updates the instability. It is over when the last lost member has been taken
// down. It is not over when lost members are reachable again, because they may be lost again.
func (c *stability) noteInstability(conditions map[ID]condition, now time.Time) {
	suffers := false
	for id, k := range conditions {
		if k.lost() {
			suffers = true
			c.instability.noteLoss(id.Address, !c.conditions[id].lost(), now)
		}
	}
	if suffers {
		return
	}
	for id, k := range c.conditions {
		if _, left := conditions[id]; k.lost() && !left {
			c.instability = instability{}
		}
	}
}

// noteLoss records that the member at an address is lost; anew means that it was not lost
// before. Only the first and the second loss of an address count as spreading.
func (t *instability) noteLoss(address string, anew bool, now time.Time) {
	if t.began.IsZero() {
		*t = instability{began: now, losses: map[string]int{}}
	}
	if !anew {
		return
	}
	if t.losses[address]++; t.losses[address] <= 2 {
		t.spread = now
	}
}

func (c *stability) settleDown(now time.Time, after time.Duration) {
	for _, k := range c.conditions {
		if k.lost() {
			return
		}
	}
	if now.Sub(c.lossChanged) >= after {
		c.instability = instability{}
	}
}

// unstableFor returns for how long members have been lost, and how long ago that last spread.
func (c *stability) unstableFor(now time.Time) (since, spread time.Duration) {
	if c.instability.began.IsZero() {
		return 0, 0
	}
	return now.Sub(c.instability.began), now.Sub(c.instability.spread)
}
