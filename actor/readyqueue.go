package actor

// A readyQueue holds the actors that wait for a turn. It stores them in pieces, and not as a list
// through the actors: adding one must not write to the one before, which another processor may be
// running.
type readyQueue struct {
	head, tail *readyPiece // never nil once there was one
	size       int
	spare      *readyPiece // empty, or nil
}

// Only the last one may be empty.
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

// There must be len(to) actors.
func (q *readyQueue) move(to []*core) {
	for len(to) > 0 {
		first := q.head
		n := copy(to, first.cores[first.begin:first.end])
		clear(first.cores[first.begin : first.begin+n])
		q.taken(n)
		to = to[n:]
	}
}

func (q *readyQueue) moveFrom(other *readyQueue, n int) {
	for range n {
		q.push(other.pop())
	}
}

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

// There is at least one, and at most as many as a piece holds.
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

// A fairQueue holds the ready actors of a scheduler. Fresh ones, which a message has woken or whose
// turn was short, go before those that have used up the time of a turn. One of these is taken after
// usedAfter fresh ones, so that they do not starve.
type fairQueue struct {
	fresh, used readyQueue
	passed      int // how many fresh ones were taken since a used one, while one waited
}

const usedAfter = 8

func (q *fairQueue) size() int { return q.fresh.size + q.used.size }

func (q *fairQueue) pop() *core {
	if q.used.size == 0 {
		return q.fresh.pop()
	}
	if q.fresh.size == 0 || q.passed == usedAfter {
		q.passed = 0
		return q.used.pop()
	}
	q.passed++
	return q.fresh.pop()
}
