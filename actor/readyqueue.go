package actor

// A readyQueue holds the actors that wait for a turn. It stores them in pieces, and not as a list
// through the actors: adding one must not write to the one before, which another processor may be
// running.
type readyQueue struct {
	head, tail *readyPiece // nil at first, and then never again
	size       int
	spare      *readyPiece // an empty one, to be used next; or nil
}

// A readyPiece is a part of the queue. Only the last one may be empty.
type readyPiece struct {
	cores      [64]*core
	begin, end int // those between wait
	after      *readyPiece
}

func (q *readyQueue) push(c *core) {
	last := q.tail
	if last == nil || last.end == len(last.cores) {
		last = q.grow()
	}
	last.cores[last.end] = c
	last.end++
	q.size++
}

func (q *readyQueue) grow() *readyPiece {
	fresh := q.fresh()
	if q.tail == nil {
		q.head = fresh
	} else {
		q.tail.after = fresh
	}
	q.tail = fresh
	return fresh
}

func (q *readyQueue) fresh() *readyPiece {
	fresh := q.spare
	if fresh == nil {
		return new(readyPiece)
	}
	q.spare = nil
	return fresh
}

// pop removes and returns the first actor; nil if the queue is empty.
func (q *readyQueue) pop() *core {
	if q.size == 0 {
		return nil
	}
	first := q.head
	c := first.cores[first.begin]
	first.cores[first.begin] = nil
	q.taken(1)
	return c
}

// move fills to with the first actors, of which there must be as many.
func (q *readyQueue) move(to []*core) {
	for len(to) > 0 {
		first := q.head
		n := copy(to, first.cores[first.begin:first.end])
		clear(first.cores[first.begin : first.begin+n])
		q.taken(n)
		to = to[n:]
	}
}

// moveFrom appends the first n of another queue.
func (q *readyQueue) moveFrom(other *readyQueue, n int) {
	for range n {
		q.push(other.pop())
	}
}

// taken notes that the first n of the head have been removed.
func (q *readyQueue) taken(n int) {
	first := q.head
	first.begin += n
	q.size -= n
	if first.begin < first.end {
		return
	}
	first.begin, first.end = 0, 0
	if first.after != nil {
		q.head, first.after = first.after, nil
		q.spare = first
	}
}

// putBack puts cores at the front: at least one, and at most as many as a piece holds.
func (q *readyQueue) putBack(cores []*core) {
	front := q.fresh()
	front.end = copy(front.cores[:], cores)
	front.after = q.head
	if q.size == 0 {
		front.after = nil
		q.tail = front
	}
	q.head = front
	q.size += len(cores)
}
