package actor

import (
	"errors"

	"github.com/understudy-go/understudy/internal/metadata"
)

func tellAside[M any](c *core, msg M) {
	_ = tellBoxBy(c, msg, entrance{}) // which reports it
}

func tellBoxBy[M any](c *core, msg M, by entrance) (unfit error) {
	copied, err := carried(c, msg)
	if err != nil {
		c.sys.deadLetter(c, msg, err)
		return err
	}
	x := boxOf[M](c)
	lost, at, reason := offer(x, copied, by)
	if reason != nil {
		at.reportUndelivered(lost, reason)
	}
	if box := x.cell.conf.box; by.asks && box.capacity > 0 && box.overflow != dropOldest && errors.Is(reason, ErrMailboxFull) {
		return reason
	}
	return nil
}

// lost need not be msg: the mailbox may have dropped another one for it.
func offer[M any](x *box[M], msg M, by entrance) (lost item, at *inbox, reason error) {
	if !by.metadata.HasValues() {
		if over, overflow, done := putPlainly(x, msg, by.metadata.Request()); overflow {
			return over, &x.cell.inbox, ErrMailboxFull
		} else if done {
			return lost, nil, nil
		}
	}
	return x.cell.put(item{msg: msg}, &by)
}

// Where the message must wait, or may be refused, done is false and nothing has happened.
func putPlainly[M any](x *box[M], msg M, r *metadata.Request) (over item, overflow, done bool) {
	c := &x.cell.core
	c.mu.Lock()
	if c.plain {
		put(c, &x.queue, msg, r)
		c.unlockAndWake()
		return over, false, true
	}
	box := x.cell.conf.box
	if c.dead || c.flags.has(bypassed|resting) || c.suspended && c.stashCap > 0 || box.overflow == block && x.cell.full(item{}) {
		c.mu.Unlock()
		return over, false, false
	}
	over, overflow = push(c, &x.queue, box, msg, beside(r))
	c.unlockAndWake()
	return over, overflow, true
}

func accept[M any](x *box[M], msg M, by entrance) {
	if lost, at, reason := offer(x, msg, by); reason != nil {
		at.reportUndelivered(lost, reason)
	}
}

func (x *box[M]) offer(msg any, by entrance) (lost item, at *inbox, reason error) {
	m, _ := msg.(M) // a nil is the zero value
	return offer(x, m, by)
}

func (x *box[M]) takes(msg any) error { return wrongType[M](msg) }

// A nil is a message if M is an interface.
func (b *inbox) deliver(msg any, by entrance) {
	if err := b.box.takes(msg); err != nil {
		b.core.sys.deadLetter(&b.core, msg, err)
		return
	}
	if b.core.outside { // an inner cell has no mailbox
		b.post(item{msg: msg}, by)
		return
	}
	if lost, at, reason := b.box.offer(msg, by); reason != nil {
		at.reportUndelivered(lost, reason)
	}
}
