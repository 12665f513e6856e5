package outbox

import (
	"slices"
	"sync"

	"github.com/understudy-go/understudy/internal/transport/wire"
)

// Its parts are sent as frames of their own.
type message struct {
	bytes []byte // the frame with the whole envelope
	begun bool   // a part has been written
	lost  bool   // it has become a dead letter
}

// largeBuffers hold *[]byte.
var largeBuffers sync.Pool

// In bytes.
const maxLargeBuffer = 16 << 20

// LargeBuffer returns an empty buffer for a large frame of that size.
func LargeBuffer(size int) []byte {
	if b, ok := largeBuffers.Get().(*[]byte); ok && cap(*b) >= size && cap(*b)/4 <= size {
		return (*b)[:0]
	}
	return make([]byte, 0, size)
}

// All its parts are acknowledged.
func (m *message) free() {
	if cap(m.bytes) <= maxLargeBuffer {
		largeBuffers.Put(&m.bytes)
	}
}

func (o *Outbox) pushParts(l Frame) {
	o.bytes -= wire.HeaderSize // parts have their own
	m := &message{bytes: l.Bytes}
	for body := l.Bytes[wire.HeaderSize:]; len(body) > 0; {
		part := body[:min(wire.MaxPart, len(body))]
		body = body[len(part):]
		o.pushBulk(Frame{Bytes: part, System: l.System, To: l.To, rare: &rare{message: m, left: len(body)}, seq: l.seq})
	}
}

func (o *Outbox) pushBulk(l Frame) {
	if o.bulky == nil {
		o.bulky = map[string]int{}
	}
	o.bulky[l.path()]++
	if l.left() > 0 {
		o.parts++
	}
	o.bulk.push(&l)
}

func (o *Outbox) tookBulk(l *Frame) {
	if m := l.message(); m != nil {
		m.begun = true
	}
	if l.left() > 0 {
		o.parts--
	}
	path := l.path()
	if o.bulky[path]--; o.bulky[path] == 0 {
		delete(o.bulky, path)
	}
}

// The first parts of those messages were sent in the old session.
func (o *Outbox) begunParts(lost []Frame) []Frame {
	begun := func(l *Frame) bool { return l.message() != nil && l.message().begun }
	for _, q := range []*queue{&o.waiting, &o.bulk} {
		kept := q.frames[:q.head:q.head]
		for _, l := range q.frames[q.head:] {
			if !begun(&l) {
				kept = append(kept, l)
				continue
			}
			lost = append(lost, l)
			if q == &o.bulk {
				o.tookBulk(&l)
			}
		}
		q.frames = kept
	}
	return lost
}

func (x *Frame) wireSize() int {
	if x.message() == nil {
		return len(x.Bytes)
	}
	return len(x.Bytes) + wire.PartOverhead
}

func (x *Frame) appendTo(buf []byte) []byte {
	if x.message() == nil {
		return append(buf, x.Bytes...)
	}
	return wire.AppendPart(buf, x.Bytes, x.rare.left)
}

// Envelope returns the frame with the whole envelope of the message.
func (x *Frame) Envelope() []byte {
	if m := x.message(); m != nil {
		return m.bytes
	}
	return x.Bytes
}

// OncePerMessage returns frames with only one frame for each message that was in parts. A message
// is returned by only one call, too.
func OncePerMessage(frames []Frame) []Frame {
	return slices.DeleteFunc(frames, func(l Frame) bool {
		m := l.message()
		if m == nil {
			return false
		}
		again := m.lost
		m.lost = true
		return again
	})
}
