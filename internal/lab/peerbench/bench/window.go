package bench

import (
	"encoding/binary"
	"sync/atomic"
)

// A window bounds the messages in flight to another process. Outboxes are bounded, so a sender has
// to check how far the receiver is.
type window struct {
	size     int
	arrived  atomic.Int64
	progress chan struct{}
}

func newWindow(size int) *window {
	return &window{size: size, progress: make(chan struct{}, 1)}
}

// confirm says that so many messages have arrived by now.
func (w *window) confirm(arrived int) {
	w.arrived.Store(int64(arrived))
	select {
	case w.progress <- struct{}{}:
	default:
	}
}

// wait returns when so many messages have arrived.
func (w *window) wait(messages int) {
	for w.arrived.Load() < int64(messages) {
		<-w.progress
	}
}

// payloads returns a function that makes the payload of a message: its number, and zeros. A payload
// is used again when its message has arrived.
func (w *window) payloads(size int) func(number int) []byte {
	all := make([][]byte, w.size)
	for i := range all {
		all[i] = make([]byte, size)
	}
	return func(number int) []byte {
		p := all[number%w.size]
		binary.BigEndian.PutUint64(p, uint64(number))
		return p
	}
}

// A gate is the other end of a window: it checks that messages arrive in order, and reports how far
// they are.
type gate struct {
	next, total, every int
	report             func(arrived int)
}

// got handles a payload.
func (g *gate) got(payload []byte) {
	if number := int(binary.BigEndian.Uint64(payload)); number != g.next {
		fail("message %d arrived, not %d", number, g.next)
	}
	if g.next++; g.next == 1 || g.next%g.every == 0 || g.next == g.total {
		g.report(g.next)
	}
}
