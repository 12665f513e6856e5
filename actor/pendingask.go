package actor

// A pendingAsk is an ask of an actor that has no outcome yet, in the list of those. It
// belongs to the turn.
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

// abandonAll ends all of them with the incarnation.
func (l *pendingAsks) abandonAll(reason error) {
	for l.head.after != nil {
		p := l.head.after
		p.remove()
		p.ask.abandon(reason)
	}
}

// abandonAsks ends those of the incarnation that ends.
func (c *cell[M]) abandonAsks() {
	if c.asks.head.after == nil {
		return
	}
	if c.phase == stopped {
		c.asks.abandonAll(ErrTerminated)
	} else {
		c.asks.abandonAll(ErrStaleHandler)
	}
}
