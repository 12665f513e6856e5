package actor

// A queue holds the items of a cell: what is being worked through by the turn that
// runs, and what has come since. The mutex of the core guards it; but batch belongs to
// the turn, unless the actor is suspended.
type queue[M any] struct {
	first   M // comes before waiting, if alone; so that a shallow mailbox needs no chunk
	alone   bool
	exempt  int32 // how many of those waiting no bound counts
	waiting chain[M]

	batch chain[M]
}

// put adds a message to a queue that has no bound.
func (q *queue[M]) put(msg M, chunks *chunks[M]) {
	if !q.alone && q.waiting.size == 0 {
		q.first, q.alone = msg, true
		return
	}
	q.waiting.put(msg, chunks)
}

// push adds it; over is what had to give way to it, or itself.
func (q *queue[M]) push(it item[M], box Mailbox, chunks *chunks[M]) (over item[M], overflow bool) {
	switch {
	case box.capacity == 0:
	case it.exempt():
		q.exempt++
	case q.waiting.size-int(q.exempt) < box.capacity:
	case box.overflow == DropOldest:
		over, overflow = q.waiting.takeBounded(chunks), true
	default:
		return it, true
	}
	q.waiting.push(it, chunks)
	return over, overflow
}

// takeFirst returns the message that waits alone before all others, if one does.
func (q *queue[M]) takeFirst() (msg M, ok bool) {
	if !q.alone {
		return msg, false
	}
	var none M
	msg, q.first, q.alone = q.first, none, false
	return msg, true
}

// refill makes what waits the batch, all of it, or one item of a bounded mailbox, whose
// bound counts what waits. It is called when the batch has been worked through, and
// nothing waits alone.
func (q *queue[M]) refill(box Mailbox, chunks *chunks[M]) bool {
	if q.waiting.size == 0 {
		return false
	}
	if box.capacity == 0 {
		q.batch, q.waiting = q.waiting, chain[M]{}
		return true
	}
	it, _ := q.waiting.pop(chunks)
	if it.exempt() {
		q.exempt--
	}
	q.batch.push(it, chunks)
	return true
}

// full reports whether there is no room for it.
func (q *queue[M]) full(it item[M], box Mailbox) bool {
	return box.capacity > 0 && q.waiting.size-int(q.exempt) >= box.capacity && !it.exempt()
}

// size is how many items there are.
func (q *queue[M]) size() int {
	n := q.batch.size + q.waiting.size
	if q.alone {
		n++
	}
	return n
}

// putBack puts items before all others; no bound counts them.
func (q *queue[M]) putBack(items []item[M], chunks *chunks[M]) {
	var back chain[M]
	for _, it := range items {
		back.push(it, chunks)
	}
	back.join(q.batch)
	q.batch = back
}

// drain empties the queue and returns all that was in it, in order.
func (q *queue[M]) drain(chunks *chunks[M]) []item[M] {
	size := q.size()
	if size == 0 {
		return nil
	}
	rest := make([]item[M], 0, size)
	rest = q.batch.drain(rest, chunks)
	if msg, ok := q.takeFirst(); ok {
		rest = append(rest, item[M]{msg: msg})
	}
	return q.waiting.drain(rest, chunks)
}
