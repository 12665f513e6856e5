package handover

import "github.com/understudy-go/understudy/internal/node"

// A barrier is a question to another manager that is answered when a condition holds there, see
// wire.Barrier. One is under way at a time.
type barrier struct {
	to     node.ID // the manager that is asked; zero when none is
	number uint64  // of the question under way, or of the last one
}

// raise asks a manager, in place of the one before.
func (b *barrier) raise(to node.ID) {
	b.to = to
	b.number++
}

// up reports whether a question is under way.
func (b *barrier) up() bool { return b.to != node.ID{} }

// pass notes an answer. It reports whether that belongs to the question under way.
func (b *barrier) pass(number uint64) bool {
	if !b.up() || number != b.number {
		return false
	}
	b.to = node.ID{}
	return true
}
