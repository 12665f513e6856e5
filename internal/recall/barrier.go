package recall

import "github.com/understudy-go/understudy/remote"

// A Barrier is a question to another node that is answered when a condition holds there. One is
// under way at a time. The zero Barrier has asked nothing.
type Barrier struct {
	to     remote.NodeID // the node that is asked; zero when none is
	number uint64        // of the question under way, or of the last one
}

// Raise asks a node, in place of the one before. The caller sends the question, with its number.
func (b *Barrier) Raise(to remote.NodeID) {
	b.to = to
	b.number++
}

// Up reports whether a question is under way.
func (b *Barrier) Up() bool { return b.to != remote.NodeID{} }

// To returns the node that is asked; zero when no question is under way.
func (b *Barrier) To() remote.NodeID { return b.to }

// Number returns the number of the question under way, or of the last one; zero before the first.
func (b *Barrier) Number() uint64 { return b.number }

// Pass notes an answer. It reports whether that belongs to the question under way.
func (b *Barrier) Pass(number uint64) bool {
	if !b.Up() || number != b.number {
		return false
	}
	b.to = remote.NodeID{}
	return true
}
