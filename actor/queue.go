package actor

// A queue holds the items that have arrived since a turn took its batch. core.mu guards it.
type queue[M any] struct {
	waiting chain[M]
	exempt  int32 // how many of those waiting no bound counts
	alone   bool
	first   M // comes before waiting, if alone; so that a shallow mailbox needs no chunk
}

// put adds a message to an unbounded queue.
func (q *queue[M]) put(msg M, chunks *chunks[M]) {
	if !q.alone && q.waiting.size == 0 {
		q.first, q.alone = msg, true
		return
	}
	q.waiting.put(msg, chunks)
}

// push adds an item. If the queue is full, over is the item that is dropped for it, or the item
// itself.
func (q *queue[M]) push(it item[M], box Mailbox, chunks *chunks[M]) (over item[M], overflow bool) {
	switch {
	case box.capacity == 0:
	case it.exempt():
		q.exempt++
	case q.waiting.size-int(q.exempt) < box.capacity:
	case box.overflow == dropOldest:
		over, overflow = q.waiting.takeBounded(chunks), true
	default:
		return it, true
	}
	q.waiting.push(it, chunks)
	return over, overflow
}

// takeFirst returns the message that is stored apart from the chain, before all others, if there is
// one.
func (q *queue[M]) takeFirst() (msg M, ok bool) {
	if !q.alone {
		return msg, false
	}
	var none M
	msg, q.first, q.alone = q.first, none, false
	return msg, true
}

// refill makes all waiting items the batch; of a bounded mailbox, whose bound counts them, one. The
// batch is empty, and so is first.
func (q *queue[M]) refill(batch *chain[M], box Mailbox, chunks *chunks[M]) bool {
	if q.waiting.size == 0 {
		return false
	}
	if box.capacity == 0 {
		*batch, q.waiting = q.waiting, chain[M]{}
		return true
	}
	it, _ := q.waiting.pop(chunks)
	if it.exempt() {
		q.exempt--
	}
	batch.push(it, chunks)
	return true
}

// full reports whether the bound leaves no place for the item.
func (q *queue[M]) full(it item[M], box Mailbox) bool {
	return box.capacity > 0 && q.waiting.size-int(q.exempt) >= box.capacity && !it.exempt()
}

// size returns the number of items.
func (q *queue[M]) size() int {
	if q.alone {
		return q.waiting.size + 1
	}
	return q.waiting.size
}

// drain empties the queue and appends its items in order.
func (q *queue[M]) drain(into []item[M], chunks *chunks[M]) []item[M] {
	if msg, ok := q.takeFirst(); ok {
		into = append(into, item[M]{msg: msg})
	}
	return q.waiting.drain(into, chunks)
}
