package remote

import (
	"slices"
	"sync"
)

// A block is memory for frames, so that not each needs its own. When it is full, another one
// takes its place. The zero value is empty.
type block []byte

const (
	smallBlock = 1 << 10  // of an outbox that holds little
	largeBlock = 32 << 10 // of one that holds much
	maxInBlock = 4 << 10  // a frame that is larger has memory of its own
)

// A fullBlock is one of the large ones, which are used again.
type fullBlock [largeBlock]byte

var fullBlocks = sync.Pool{New: func() any { return new(fullBlock) }}

// keep returns a copy of frame. When it had to begin a new block, it returns the one before, for
// whoever knows when the frames in that are needed no more.
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

// replace begins a new block, twice as large as the one before up to a limit, and for size bytes
// at least. It returns the one before, if that was a large one.
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

// clear makes all of the block free again. Nobody may hold a frame in it.
func (b *block) clear() { *b = (*b)[:0] }
