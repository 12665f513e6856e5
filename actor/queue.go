package actor

import "github.com/understudy-go/understudy/internal/metadata"

// A queue holds what has arrived at a cell since a turn took its batch. The mutex of the core
// guards it, which also has the counts of the items.
type queue[M any] struct {
	rest  chain[M]
	of    *common[M]
	first M                 // comes before rest, if core.alone says so: a shallow mailbox needs no chunk
	asked *metadata.Request // the request, if first is one
}

// tryPut also wakes the actor. False means that the mailbox is not plain, and nothing was done.
// With instead, msg is for the parent, which was bypassed a moment ago.
func tryPut[M any](c *core, q *queue[M], msg M, r *metadata.Request, instead bool) bool {
	if !c.mu.TryLock() {
		c.lockWithBackoff()
	}
	if !c.plain || instead && !c.instead {
		c.mu.Unlock()
		return false
	}
	// The usual case under load: others wait, so the actor is scheduled or suspended, and a place
	// in the last chunk is free. Nothing is allocated or woken.
	if last := q.rest.tail; last != nil && len(last.msgs) < cap(last.msgs) && len(last.tasks) == 0 && r == nil {
		last.msgs = append(last.msgs, msg) // a turn is due already
		c.waiting++
		checkState(c)
		c.mu.Unlock()
		return true
	}
	put(c, q, msg, r)
	c.unlockAndWake()
	return true
}

// tellChild takes the mutex of the child only: a bypass closes under that as well, so the message
// is either in the mailbox of the child before the bypass has closed, or comes to the actor. False
// means the latter, or a mailbox that is not plain.
func tellChild[M any](c *core, msg M, r *metadata.Request) bool {
	to := c.impl.(*cell).bypass.Load() // only a cell is bypassed
	if to == nil {
		return false
	}
	q, ok := to.core.queue.(*queue[M])
	return ok && tryPut(&to.core, q, msg, r, true)
}

// mu is held.
func put[M any](c *core, q *queue[M], msg M, r *metadata.Request) {
	c.waiting++
	if c.waiting > 1 {
		appendTo(&q.rest, msg, beside(r), &q.of.unused)
		return
	}
	q.first, c.alone = msg, messageAlone
	if r != nil {
		q.asked, c.alone = r, requestAlone
	}
}

// mu is held, and released.
func (c *core) unlockAndWake() {
	wake := !c.scheduled && !c.suspended
	if wake {
		c.scheduled = true
	}
	checkState(c)
	c.mu.Unlock()
	if wake {
		c.sys.scheduler.ready(c)
	}
}

// If the queue is full, over is the item that is dropped for it, or the item itself. mu is held.
func push[M any](c *core, q *queue[M], box Mailbox, msg M, t task) (over item, overflow bool) {
	switch {
	case box.capacity == 0:
	case t != nil && t.exempt():
		c.exempt++
	case int(c.waiting-c.exempt) < box.capacity:
	case box.overflow == dropOldest:
		over, overflow = takeOldest(&q.rest, &q.of.unused), true
		c.waiting--
	default:
		return itemOf(msg, t), true
	}
	c.waiting++
	appendTo(&q.rest, msg, t, &q.of.unused)
	return over, overflow
}

func takeAlone[M any](c *core, q *queue[M]) (msg M, r *metadata.Request) {
	var none M
	msg, q.first = q.first, none
	if c.alone == requestAlone {
		r, q.asked = q.asked, nil
	}
	c.alone = nothingAlone
	c.waiting--
	return msg, r
}

// refill takes one item of a bounded mailbox, whose bound counts them. The batch is empty, and
// nothing is alone. mu is held.
func refill[M any](c *core, q *queue[M], batch **chunk[M], box Mailbox) (items int32) {
	if box.capacity == 0 {
		items = c.waiting
		*batch, q.rest, c.waiting = q.rest.head, chain[M]{}, 0
		return items
	}
	if c.waiting == 0 {
		return 0
	}
	msg, t := takeFirst(&q.rest.head, &q.of.unused)
	if q.rest.head == nil {
		q.rest.tail = nil
	}
	c.waiting--
	if t != nil && t.exempt() {
		c.exempt--
	}
	var one chain[M]
	appendTo(&one, msg, t, &q.of.unused)
	*batch = one.head
	return 1
}

// mu is held.
func drainQueue[M any](c *core, q *queue[M], into []item) []item {
	if c.alone != nothingAlone {
		msg, r := takeAlone(c, q)
		into = append(into, item{msg: msg, request: r})
	}
	head := q.rest.head
	q.rest, c.waiting, c.exempt = chain[M]{}, 0, 0
	return drain(head, into, &q.of.unused)
}
