package actor

// Abandon takes an actor that Spawn has returned out of the tree, although one of its handlers does
// not return. Its name is free, and its parent waits for it no longer. Its watchers, and asks that
// wait for it, learn that why has ended it. What waits in its mailbox is given back. If the handler
// returns after all, the actor ends then, and what it had in hand is given back late.
//
// Abandon returns false, and does nothing, if the actor has ended.
func (r *returning) Abandon(of AnyRef, why error) bool {
	c := of.target().impl.(*cell) // Spawn has made it
	rest, done := takeAbandoned(&c.inbox, why)
	if !done {
		return false
	}
	stopAll(c.core.childList()) // its own stop comes too late for them
	c.giveBack(rest)
	c.core.leaveTree()
	return true
}

// What the turn has in hand stays there: no other goroutine may touch it.
func takeAbandoned(b *inbox, why error) (rest []item, done bool) {
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	if b.core.dead || b.core.flags.has(abandoned) {
		return nil, false
	}
	b.core.flags.set(abandoned)
	b.rests()
	b.core.ownRelations().cause = why
	rest = b.box.drainQueue(nil)
	if b.conf.box.overflow == block { // else only the turn may read the extras
		rest = append(rest, b.senders.takeParked()...)
	}
	checkState(&b.core)
	return rest, true
}
