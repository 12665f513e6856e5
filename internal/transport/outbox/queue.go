package outbox

import (
	"slices"
	"sync"
)

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

// Several frames share it. A full block is replaced by a new one. The zero value is empty.
type block []byte

const (
	smallBlock = 1 << 10  // bytes, for an outbox that holds little
	largeBlock = 32 << 10 // bytes, for an outbox that holds much
	maxInBlock = 4 << 10  // a larger frame has memory of its own
)

type fullBlock [largeBlock]byte

var fullBlocks = sync.Pool{New: func() any { return new(fullBlock) }}

// If a new block had to begin, used is the block before, which the caller frees once the frames in
// it are no longer needed.
func (b *block) keep(frame []byte) (kept []byte, used *fullBlock) {
	if len(frame) > maxInBlock {
		return slices.Clone(frame), nil
	}
	if len(*b)+len(frame) > cap(*b) {
		used = b.replace(len(frame))
	}
	begin := len(*b)
	*b = append(*b, frame...)
	return (*b)[begin:len(*b):len(*b)], used
}

// The new block is twice as large as the block before, up to a limit. used is the block before if
// that was a large one.
func (b *block) replace(size int) (used *fullBlock) {
	old := (*b)[:cap(*b)]
	if len(old) == largeBlock {
		used = (*fullBlock)(old)
	}
	if size = max(2*len(old), smallBlock, size); size < largeBlock {
		*b = make([]byte, 0, size)
	} else {
		*b = fullBlocks.Get().(*fullBlock)[:0]
	}
	return used
}
