package actor

import (
	"errors"

	"github.com/understudy-go/understudy/internal/metadata"
)

// tellAside tells an actor whose mailbox is not plain.
func tellAside[M any](c *core, msg M) {
	_ = tellBoxBy(c, msg, entrance{}) // which reports it
}

// tellBoxBy is tellBy for an actor of this node.
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

// offer puts msg into the mailbox. It returns the item that was not delivered for it, the cell, and
// why.
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

// putPlainly puts a message into the mailbox as it is. Where it must wait, or may be refused, done
// is false and nothing has happened.
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

// accept is tell for a message that must not be encoded, or not again.
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

// deliver takes a message of any type. A nil is a message if M is an interface.
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
