package outbox

import (
	"slices"
	"sync"
)

// A block is memory that several frames share. A full block is replaced by a new one. The zero
// value is empty.
type block []byte

const (
	smallBlock = 1 << 10  // bytes, for an outbox that holds little
	largeBlock = 32 << 10 // bytes, for an outbox that holds much
	maxInBlock = 4 << 10  // a larger frame has memory of its own
)

// A fullBlock is a large block. These are used again.
type fullBlock [largeBlock]byte

var fullBlocks = sync.Pool{New: func() any { return new(fullBlock) }}

// keep returns a copy of frame. If it had to begin a new block, it also returns the block before,
// which the caller frees once the frames in it are no longer needed.
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

// replace begins a new block of at least size bytes, twice as large as the block before up to a
// limit. It returns the block before if that was a large one.
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

// clear makes the whole block free. No frame in it may be in use.
func (b *block) clear() { *b = (*b)[:0] }
