package bench

import (
	"encoding/binary"
	"sync"
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

// numberSize is the size of a payload that is only a number.
const numberSize = 8

// A crowd is the other end of a window, for messages to some sinks in turn: it reports how many
// have arrived. Sinks run at once, so only the order of each is checked.
type crowd struct {
	total, sinks, every int
	arrived             atomic.Int64
	report              func(arrived int)
	reporting           sync.Mutex // keeps reports from going backwards
}

// alone returns what the only sink does with its payloads.
func (c *crowd) alone() func(payload []byte) {
	next := 0
	return func(payload []byte) {
		if number := int(binary.BigEndian.Uint64(payload)); number != next {
			fail("message %d arrived, not %d", number, next)
		}
		if next++; next == 1 || next%c.every == 0 || next == c.total {
			c.report(next)
		}
	}
}

// newSink returns what one of several sinks does with its payloads.
func (c *crowd) newSink() func(payload []byte) {
	next := -1
	return func(payload []byte) {
		number := int(binary.BigEndian.Uint64(payload))
		if next < 0 {
			next = number % c.sinks
		}
		if number != next {
			fail("message %d arrived, not %d", number, next)
		}
		next += c.sinks
		c.count()
	}
}

func (c *crowd) count() {
	n := int(c.arrived.Add(1))
	if n > c.sinks && n%c.every != 0 && n != c.total {
		return
	}
	c.reporting.Lock()
	defer c.reporting.Unlock()
	c.report(int(c.arrived.Load()))
}
