// Package outbox keeps the frames of one session until the peer has acknowledged them. It decides
// which frames are written next, which are written again on a new connection, and which are lost
// with a session. It has no locks, clocks or connections.
package outbox

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/internal/transport/wire"
)

// A Frame is an outgoing frame, with what a dead letter needs in case the frame is lost.
type Frame struct {
	Bytes  []byte
	System *actor.System // the sender's; nil on the control channel, which has no dead letters
	To     string        // the recipient, as in a dead letter

	rare *rare  // nil for most frames: a frame fits into a cache line
	seq  uint64 // the position in the outbox
}

// The zero value says nothing.
type rare struct {
	last    bool       // it must not overtake any earlier frame
	used    *fullBlock // holds only earlier frames of the same queue; nil for none
	message *message   // the message that Bytes is a part of; nil for a whole message
	left    int        // bytes of the message behind this part
	leftAt  int        // where Bytes says how much time an ask has left; 0 for none
	ends    time.Duration
}

// SetLeft says where the frame says how much time an ask has left, and when the ask ends, see
// [metadata.PutLeft]: the time that the frame waits counts.
func (x *Frame) SetLeft(at int, ends time.Duration) {
	if x.rare == nil {
		x.rare = new(rare)
	}
	x.rare.leftAt, x.rare.ends = at, ends
}

func (x *Frame) correct() {
	if r := x.rare; r != nil && r.leftAt > 0 && r.message == nil {
		metadata.PutLeft(x.Bytes[r.leftAt:], r.ends-metadata.Now())
	}
}

// SetLast says that the frame must not overtake any earlier one.
func (x *Frame) SetLast() { x.rare = &rare{last: true} }

// A ref with its unique number and a ref without it may be of the same actor.
func (x *Frame) path() string {
	path, _, _ := strings.Cut(x.To, "#")
	return path
}

func (x *Frame) message() *message {
	if x.rare == nil {
		return nil
	}
	return x.rare.message
}

func (x *Frame) left() int {
	if x.rare == nil {
		return 0
	}
	return x.rare.left
}

// An Outbox keeps the frames of one session in order, in four queues:
//
//   - waiting has the frames that have not been written to the present connection;
//   - bulk has the parts of large messages, and later messages for the same actors: no frame of it
//     overtakes an older one of waiting;
//   - last has the frames that must come after everything before them;
//   - inFlight has the frames that were written and are not acknowledged yet.
type Outbox struct {
	MaxFrames int // that wait; a large message counts once
	MaxBytes  int // of all frames

	waiting  queue
	rewound  int // frames at the head of waiting that were written to an earlier connection
	bulk     queue
	bulky    map[string]int // frames in bulk by the path of the recipient
	parts    int            // parts in bulk, except the last of each message
	last     queue
	inFlight queue
	seq      uint64 // of the newest frame
	acked    uint64 // frames of the session that the peer has acknowledged
	bytes    int    // of all frames
	block    block  // has the bytes of the newest frames
	prompt   bool   // what waits has come since nothing waited on this connection: just now
	counts   Counts
}

// Counts are what an [Outbox] has handed out for writing, over all sessions.
type Counts struct {
	Messages uint64 // a large one counts with its last part
	Resent   uint64 // frames that were handed out again on another connection
	Bytes    uint64 // with those of frames that were handed out again
}

// Add adds other to c.
func (c *Counts) Add(other Counts) {
	c.Messages += other.Messages
	c.Resent += other.Resent
	c.Bytes += other.Bytes
}

// Counts returns what o has handed out.
func (o *Outbox) Counts() Counts { return o.counts }

// Len returns how many frames there are.
func (o *Outbox) Len() int { return o.Unsent() + o.inFlight.len() }

// Unsent returns how many frames have not been written to the present connection.
func (o *Outbox) Unsent() int { return o.waiting.len() + o.bulk.len() + o.last.len() }

// InFlight returns how many frames were written to the present connection and are not acknowledged.
func (o *Outbox) InFlight() int { return o.inFlight.len() }

// Bytes returns how many bytes all frames have.
func (o *Outbox) Bytes() int { return o.bytes }

// HasRoom reports whether Push would accept a frame of that size.
func (o *Outbox) HasRoom(size int) bool {
	return o.Unsent()-o.parts < o.MaxFrames && (o.bytes+size <= o.MaxBytes || o.Len() == 0)
}

// HalfEmpty reports whether at most half of each limit is used.
func (o *Outbox) HalfEmpty() bool {
	return o.Unsent()-o.parts <= o.MaxFrames/2 && o.bytes <= o.MaxBytes/2
}

// Push adds a copy of a frame, and takes over the memory of a frame larger than [wire.MaxPart]. It
// returns false if there is no room for it.
func (o *Outbox) Push(l Frame) bool {
	if !o.HasRoom(len(l.Bytes)) {
		return false
	}
	if o.Len() == 0 {
		o.block = o.block[:0] // no frame in it is in use
	}
	o.bytes += len(l.Bytes)
	o.seq++
	l.seq = o.seq
	large := l.System != nil && len(l.Bytes) > wire.MaxPart
	behind := l.rare != nil && l.rare.last && o.bulk.len() > 0
	if !large && !behind && (len(o.bulky) == 0 || o.bulky[l.path()] == 0) {
		var used *fullBlock
		if l.Bytes, used = o.block.keep(l.Bytes); used != nil {
			if l.rare == nil {
				l.rare = new(rare)
			}
			l.rare.used = used
		}
		o.waiting.push(&l)
		return true
	}
	if !large {
		l.Bytes = slices.Clone(l.Bytes) // in no block: the queues overtake each other
	}
	switch {
	case behind:
		o.last.push(&l)
	case large:
		o.pushParts(l)
	default:
		o.pushBulk(l)
	}
	return true
}

// DropOldest drops the frame that has waited longest and has not been written. It returns false if
// no such frame exists.
func (o *Outbox) DropOldest() bool {
	if o.waiting.len() == 0 {
		return false
	}
	o.bytes -= len(o.waiting.pop().Bytes)
	o.rewound = max(o.rewound-1, 0)
	return true
}

// Take appends the next frames to buf until buf is full or nothing waits. The frames are in flight
// then. A frame that is larger than buf is taken alone. Large messages get half of buf.
func (o *Outbox) Take(buf []byte) []byte {
	begin := len(buf)
	defer func() { o.prompt = o.Unsent() == 0 }()
	// The peer counts frames, and has told how many of the session it has: what was written to an
	// earlier connection must therefore be written again first, and in its order.
	for ; o.rewound > 0; o.rewound-- {
		if !o.takeFrom(&o.waiting, &buf, cap(buf)) {
			return buf
		}
	}
	o.takeLasts(&buf)
	for o.bulk.len() > 0 && o.waiting.before(o.bulk) && o.takeFrom(&o.waiting, &buf, cap(buf)) {
	}
	// Half of the buffer for small messages, the rest for parts: neither a large message nor a
	// flood of small ones delays the other by more than its share.
	share := cap(buf)
	if o.bulk.len() > 0 {
		share = begin + (cap(buf)-begin)/2
	}
	for o.takeFrom(&o.waiting, &buf, share) {
	}
	for o.bulk.len() > 0 && !o.waiting.before(o.bulk) && o.takeFrom(&o.bulk, &buf, cap(buf)) {
	}
	for o.takeFrom(&o.waiting, &buf, cap(buf)) {
	}
	o.takeLasts(&buf)
	return buf
}

// takeLasts takes the frames that have no earlier frame left.
func (o *Outbox) takeLasts(buf *[]byte) {
	for o.last.len() > 0 && !o.waiting.before(o.last) && !o.bulk.before(o.last) && o.takeFrom(&o.last, buf, cap(*buf)) {
	}
}

// takeFrom takes no frame if buf would exceed limit bytes.
func (o *Outbox) takeFrom(q *queue, buf *[]byte, limit int) bool {
	if q.len() == 0 || len(*buf) > 0 && len(*buf)+q.first().wireSize() > limit {
		return false
	}
	l, begin := q.first(), len(*buf)
	if !o.prompt {
		l.correct()
	}
	*buf = l.appendTo(*buf)
	o.count(l, len(*buf)-begin)
	o.inFlight.push(l)
	if q == &o.bulk {
		o.tookBulk(l)
	}
	q.drop()
	return true
}

// The frames that were written to an earlier connection are the first to be taken.
func (o *Outbox) count(l *Frame, bytes int) {
	o.counts.Bytes += uint64(bytes) //nolint:gosec // not negative
	switch {
	case o.rewound > 0:
		o.counts.Resent++
	case l.left() == 0:
		o.counts.Messages++
	}
}

// Acknowledge drops the frames that the peer has received. count is the number of all frames of
// the session that it has received. Acknowledge fails with [remote.ErrFrame] if count cannot be.
func (o *Outbox) Acknowledge(count uint64) error {
	// A count beyond what is in flight, or below an earlier one, is of another session or a broken
	// peer. To drop frames by it would lose messages.
	if count < o.acked || count > o.acked+uint64(o.inFlight.len()) {
		return fmt.Errorf("%w: the peer acknowledges %d frames, has acknowledged %d, and was sent %d more", remote.ErrFrame, count, o.acked, o.inFlight.len())
	}
	for ; o.acked < count; o.acked++ {
		l := o.inFlight.first()
		o.bytes -= len(l.Bytes)
		if l.rare != nil {
			l.rare.acknowledged()
		}
		o.inFlight.drop()
	}
	return nil
}

func (r *rare) acknowledged() {
	if r.used != nil {
		fullBlocks.Put(r.used)
	}
	if r.message != nil && r.left == 0 {
		r.message.free()
	}
}

// Rewind makes the frames in flight wait again, for a new connection of the session.
func (o *Outbox) Rewind() {
	o.prompt = false
	if o.inFlight.len() > 0 {
		o.rewound += o.inFlight.len()
		o.waiting.frames = append(o.inFlight.drain(), o.waiting.drain()...)
	}
}

// Abandon begins a new session. It removes and returns the frames that may or may not have arrived.
func (o *Outbox) Abandon() []Frame {
	o.keepBlocks()
	o.prompt = false
	lost := o.inFlight.drain()
	for ; o.rewound > 0; o.rewound-- {
		lost = append(lost, o.waiting.pop())
	}
	lost = o.begunParts(lost)
	for _, l := range lost {
		o.bytes -= len(l.Bytes)
	}
	o.acked = 0
	return lost
}

// Drain empties the outbox and returns what was in it, in order.
func (o *Outbox) Drain() []Frame {
	all := append(o.Abandon(), o.waiting.drain()...)
	all = append(all, o.bulk.drain()...)
	all = append(all, o.last.drain()...)
	clear(o.bulky)
	o.parts, o.bytes = 0, 0
	return all
}

// Frames that leave the outbox without an acknowledgement are still read.
func (o *Outbox) keepBlocks() {
	o.block = nil
	for _, q := range []*queue{&o.waiting, &o.bulk} {
		for i := range q.len() {
			if r := q.frames[q.head+i].rare; r != nil {
				r.used = nil
			}
		}
	}
}
