package actor

import "slices"

// A queue holds the items of a cell: what is being worked through by the turn that
// runs, and what has come since. The mutex of the core guards it; but batch belongs to
// the turn, unless the actor is suspended.
type queue[M any] struct {
	waiting chain[M]
	exempt  int // how many of those waiting no bound counts

	batch chain[M]
}

// push adds it; over is what had to give way to it, or itself.
func (q *queue[M]) push(it item[M], box Mailbox) (over item[M], overflow bool) {
	switch {
	case box.capacity == 0:
	case it.exempt():
		q.exempt++
	case q.waiting.size-q.exempt < box.capacity:
	case box.overflow == DropNewest:
		return it, true
	default:
		over, overflow = q.waiting.takeBounded(), true
	}
	q.waiting.push(it)
	return over, overflow
}

// refill makes what waits the batch, all of it, or one item of a bounded mailbox, whose
// bound counts what waits. It is called when the batch has been worked through.
func (q *queue[M]) refill(box Mailbox) bool {
	if q.waiting.size == 0 {
		return false
	}
	if box.capacity == 0 {
		q.waiting, q.batch = chain[M]{spare: q.batch.spare}, q.waiting
		return true
	}
	it, _ := q.waiting.pop()
	if it.exempt() {
		q.exempt--
	}
	q.batch.push(it)
	return true
}

// pop returns the next item of the batch.
func (q *queue[M]) pop() (it item[M], ok bool) { return q.batch.pop() }

// size is how many items there are.
func (q *queue[M]) size() int { return q.batch.size + q.waiting.size }

// putBack puts items, which are not empty, before all others; no bound counts them.
func (q *queue[M]) putBack(items []item[M]) { q.batch.prepend(items) }

// drain empties the queue and returns all that was in it, in order.
func (q *queue[M]) drain() []item[M] {
	rest := make([]item[M], 0, q.size())
	for _, c := range []*chain[M]{&q.batch, &q.waiting} {
		for it, ok := c.pop(); ok; it, ok = c.pop() {
			rest = append(rest, it)
		}
	}
	*q = queue[M]{}
	return rest
}

// rest lets go of memory that was good for a flood.
func (q *queue[M]) rest() {
	for _, c := range []*chain[M]{&q.batch, &q.waiting} {
		if c.spare != nil && cap(c.spare.items) > idleChunk {
			c.spare = nil
		}
	}
}

// A chain is a queue in pieces, so that a flood is never copied.
type chain[M any] struct {
	head, tail *chunk[M]
	size       int
	spare      *chunk[M] // an empty one, to be filled again
}

type chunk[M any] struct {
	items []item[M] // those before next are gone
	next  int
	after *chunk[M]
}

// The chunks of a chain grow fourfold from the first to the last size. A chain at rest
// keeps none that is longer than idleChunk.
const (
	firstChunk = 4
	lastChunk  = 1024
	idleChunk  = 64
)

func (c *chain[M]) push(it item[M]) {
	if c.tail == nil || len(c.tail.items) == cap(c.tail.items) {
		c.grow()
	}
	c.tail.items = append(c.tail.items, it)
	c.size++
}

func (c *chain[M]) grow() {
	size := firstChunk
	if c.tail != nil {
		size = min(4*cap(c.tail.items), lastChunk)
	}
	fresh := c.spare
	c.spare = nil
	if fresh == nil || cap(fresh.items) < size {
		fresh = &chunk[M]{items: make([]item[M], 0, size)}
	}
	if c.tail == nil {
		c.head = fresh
	} else {
		c.tail.after = fresh
	}
	c.tail = fresh
}

func (c *chain[M]) pop() (it item[M], ok bool) {
	if c.size == 0 {
		return it, false
	}
	first := &c.head.items[c.head.next]
	it = *first
	*first = item[M]{} // retain nothing
	c.advance()
	return it, true
}

// prepend puts items, which are not empty, before all others.
func (c *chain[M]) prepend(items []item[M]) {
	c.head = &chunk[M]{items: slices.Clip(items), after: c.head}
	if c.tail == nil {
		c.tail = c.head
	}
	c.size += len(items)
}

// takeBounded takes out the first item that is not exempt from a bound, of which there
// must be one. Those before it move up by one place.
func (c *chain[M]) takeBounded() item[M] {
	var carry item[M]
	for piece := c.head; ; piece = piece.after {
		for i := piece.next; i < len(piece.items); i++ {
			carry, piece.items[i] = piece.items[i], carry
			if !carry.exempt() {
				c.advance()
				return carry
			}
		}
	}
}

// advance takes the first place, which is empty, out of the chain.
func (c *chain[M]) advance() {
	c.size--
	first := c.head
	first.next++
	if first.next < len(first.items) {
		return
	}
	c.head = first.after
	if c.head == nil {
		c.tail = nil
	}
	if c.spare == nil || cap(c.spare.items) < cap(first.items) {
		first.items, first.next, first.after = first.items[:0], 0, nil
		c.spare = first
	}
}
