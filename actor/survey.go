package actor

import (
	"math"
	"reflect"
)

// Mailboxes implements [actorhook.Counted]. It visits each actor: a few milliseconds for 100 000.
func (s internals) Mailboxes() map[string]int {
	waiting := map[string]int{}
	left := append(s.user.childList(), s.system.childList()...)
	for len(left) > 0 {
		c := left[len(left)-1].impl.(*cell) // only cells are children
		n, children := c.survey()
		left = append(left[:len(left)-1], children...)
		if n > 0 {
			waiting[c.tally.counts.of.name] += n
		}
	}
	return waiting
}

// survey returns how many messages wait in the mailbox, and the children. Of what a running turn
// has taken out of the mailbox it knows how much that was some hundred messages ago.
func (b *inbox) survey() (waiting int, children []*core) {
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	if b.core.relations != nil {
		children = b.core.relations.children.list()
	}
	waiting = int(b.core.waiting)
	switch {
	case b.core.scheduled:
		waiting += int(b.tally.drawn)
	case b.core.suspended:
		waiting += int(b.batched) + b.priorities.size()
	}
	return waiting, children
}

// sayDrawn notes how many messages the turn holds, unless somebody is at the mailbox.
func sayDrawn(c *cell) {
	if c.core.mu.TryLock() {
		c.tally.drawn = drawn(int(c.batched) + c.priorities.size())
		c.core.mu.Unlock()
	}
}

// drawn returns how many messages a turn holds, for its tally.
func drawn(messages int) int32 { return int32(min(messages, math.MaxInt32)) }

// messageType returns the type of the actor's messages.
func (b *inbox) messageType() reflect.Type { return b.conf.kinded.messages }
