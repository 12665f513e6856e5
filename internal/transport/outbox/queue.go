package outbox

import "slices"

type queue struct {
	frames []Frame
	head   int
}

func (q *queue) len() int { return len(q.frames) - q.head }

func (q *queue) first() *Frame { return &q.frames[q.head] }

// other is not empty.
func (q *queue) before(other queue) bool {
	return q.len() > 0 && q.first().seq < other.first().seq
}

func (q *queue) push(l *Frame) {
	if len(q.frames) == cap(q.frames) && q.head > len(q.frames)/2 {
		q.frames = slices.Delete(q.frames, 0, q.head)
		q.head = 0
	}
	q.frames = append(q.frames, *l)
}

func (q *queue) pop() Frame {
	l := *q.first()
	q.drop()
	return l
}

func (q *queue) drop() {
	*q.first() = Frame{}
	q.head++
	if q.head == len(q.frames) {
		q.frames, q.head = q.frames[:0], 0
	}
}

func (q *queue) drain() []Frame {
	all := q.frames[q.head:]
	*q = queue{}
	return all
}
