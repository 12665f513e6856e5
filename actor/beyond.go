package actor

// A beyond is a message for which no bound counts.
type beyond struct {
	trailing
	msg any
}

func (b *beyond) run(c *cell) { c.handleTaskMessage(b.msg) }

func (b *beyond) undelivered() (any, bool) { return b.msg, true }

func (r refInternals) TellBeyondBound(msg any) {
	to, ok := r.c.impl.(*cell)
	if !ok {
		r.c.sys.deadLetter(r.c, msg, ErrNoSuchActor)
		return
	}
	copied, err := carried(r.c, msg)
	if err != nil {
		r.c.sys.deadLetter(r.c, msg, err)
		return
	}
	to.post(item{task: &beyond{msg: copied}}, entrance{})
}
