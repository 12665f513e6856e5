package actor

import (
	"math"
	"reflect"
)

// A surveyed is an actor whose messages are counted: a cell, whatever its type of messages.
type surveyed interface {
	survey() (waiting int, children []*core)
	counts() *counts
	messageType() reflect.Type
}

// Mailboxes implements [actorhook.Counted]. It visits each actor: a few milliseconds for 100 000.
func (s internals) Mailboxes() map[string]int {
	waiting := map[string]int{}
	left := append(s.user.childList(), s.system.childList()...)
	for len(left) > 0 {
		c := left[len(left)-1].impl.(surveyed) // only cells are children
		n, children := c.survey()
		left = append(left[:len(left)-1], children...)
		if n > 0 {
			waiting[c.counts().of.name] += n
		}
	}
	return waiting
}

// survey returns how many messages wait in the mailbox, and the children. Of what a running turn
// has taken out of the mailbox it knows how much that was some hundred messages ago.
func (b *inbox[M]) survey() (waiting int, children []*core) {
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	if b.core.relations != nil {
		children = b.core.relations.children.list()
	}
	waiting = b.queue.size()
	switch {
	case b.core.scheduled:
		waiting += int(b.tally.drawn)
	case b.core.suspended:
		waiting += b.batch.size + b.priorities.size()
	}
	return waiting, children
}

// sayDrawn notes how many messages the turn holds, unless somebody is at the mailbox.
func sayDrawn[M any](c *cell[M]) {
	if c.core.mu.TryLock() {
		c.tally.drawn = drawn(c.batch.size + c.priorities.size())
		c.core.mu.Unlock()
	}
}

// drawn returns how many messages a turn holds, for its tally.
func drawn(messages int) int32 { return int32(min(messages, math.MaxInt32)) }

// counts returns where the actor is counted.
func (b *inbox[M]) counts() *counts { return b.tally.counts }

// messageType returns the type of the actor's messages.
func (*inbox[M]) messageType() reflect.Type { return reflect.TypeFor[M]() }
