package remote

import (
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/actor"
)

// A letter is a frame on its way, and what it takes to say that it was lost.
type letter struct {
	frame []byte
	sys   *actor.System // nil on the control channel: nobody is told
	to    string        // the recipient, as in a dead letter
	used  *fullBlock    // holds only frames of letters before this one, of waiting as this one is; nil for none
	whole *whole        // the message that frame is a part of; nil for all of it
	left  int           // bytes of it behind this part
	last  bool          // must not overtake anything
	seq   uint64        // of the outbox
}

// An outbox keeps the letters of one session in order, from when they are sent until
// the peer has acknowledged them. It is a value without locks and clocks.
type outbox struct {
	maxLetters int // that wait, large ones counted once
	maxBytes   int // of all

	waiting queue          // not written to the present connection
	rewound int            // how many at the head of waiting have been written to another one
	bulk    queue          // waits, too: parts of large messages, and what is for the same actors
	bulky   map[string]int // how much of bulk each actor has
	parts   int            // of bulk, that are not the last of their message
	lasts   queue          // waits, too, for all that was pushed before
	seq     uint64         // of the letter that was pushed last
	flying  queue          // written, but not acknowledged
	acked   uint64         // how many letters of the session the peer has acknowledged
	bytes   int            // of all frames
	block   block          // holds the frames that were pushed last
}

func (o *outbox) len() int { return o.unsent() + o.flying.len() }

// unsent returns how much has not been written to the present connection.
func (o *outbox) unsent() int { return o.waiting.len() + o.bulk.len() + o.lasts.len() }

// push adds a letter, unless there is no room for it. It keeps a copy of the frame.
func (o *outbox) push(l letter) bool {
	if o.unsent()-o.parts >= o.maxLetters || o.bytes+len(l.frame) > o.maxBytes && o.len() > 0 {
		return false
	}
	if o.len() == 0 {
		o.block.clear()
	}
	o.bytes += len(l.frame)
	o.seq++
	l.seq = o.seq
	large := l.sys != nil && len(l.frame) > maxPart
	last := l.last && o.bulk.len() > 0
	if !large && !last && o.bulky[l.to] == 0 {
		l.frame, l.used = o.block.keep(l.frame)
		o.waiting.push(l)
		return true
	}
	l.frame = slices.Clone(l.frame) // in no block: the queues overtake each other
	switch {
	case last:
		o.lasts.push(l)
	case large:
		o.pushParts(l)
	default:
		o.pushBulk(l)
	}
	return true
}

// dropOldest drops the letter that has waited longest, if there is one that has not been
// written.
func (o *outbox) dropOldest() bool {
	if o.waiting.len() == 0 {
		return false
	}
	o.bytes -= len(o.waiting.pop().frame)
	o.rewound = max(o.rewound-1, 0)
	return true
}

// take appends the next frames to buf, until it is full or nothing waits. A frame that
// is larger than buf is taken alone. Large messages have half of buf, others what is left.
func (o *outbox) take(buf []byte) []byte {
	begin := len(buf)
	for ; o.rewound > 0; o.rewound-- {
		if !o.takeFrom(&o.waiting, &buf, cap(buf)) {
			return buf
		}
	}
	share := cap(buf)
	if o.bulk.len() > 0 {
		share = begin + (cap(buf)-begin)/2
	}
	o.takeLasts(&buf)
	for o.takeFrom(&o.waiting, &buf, share) {
	}
	for o.takeFrom(&o.bulk, &buf, cap(buf)) {
	}
	for o.takeFrom(&o.waiting, &buf, cap(buf)) {
	}
	o.takeLasts(&buf)
	return buf
}

// takeLasts takes what has waited for others that are gone now.
func (o *outbox) takeLasts(buf *[]byte) {
	for o.lasts.len() > 0 && !o.waiting.before(o.lasts) && !o.bulk.before(o.lasts) && o.takeFrom(&o.lasts, buf, cap(*buf)) {
	}
}

// takeFrom takes the next frame of a queue, if there is one, and buf has not more than limit
// bytes then.
func (o *outbox) takeFrom(q *queue, buf *[]byte, limit int) bool {
	if q.len() == 0 || len(*buf) > 0 && len(*buf)+q.first().wireSize() > limit {
		return false
	}
	l := q.first()
	*buf = l.appendTo(*buf)
	o.flying.push(*l)
	if q == &o.bulk {
		o.tookBulk(*l)
	}
	q.drop()
	return true
}

// acknowledge drops the letters that the peer has, by the count of all of the session.
func (o *outbox) acknowledge(count uint64) error {
	if count < o.acked || count > o.acked+uint64(o.flying.len()) {
		return fmt.Errorf("%w: %d letters acknowledged, of which %d were before, and %d more sent", ErrFrame, count, o.acked, o.flying.len())
	}
	for ; o.acked < count; o.acked++ {
		l := o.flying.first()
		o.bytes -= len(l.frame)
		if l.used != nil {
			fullBlocks.Put(l.used)
		}
		o.flying.drop()
	}
	return nil
}

// rewind makes what flew wait again, for a new connection.
func (o *outbox) rewind() {
	if o.flying.len() > 0 {
		o.rewound += o.flying.len()
		o.waiting.letters = append(o.flying.drain(), o.waiting.drain()...)
	}
}

// abandon begins a new session. It returns the letters of which nobody knows whether they
// have arrived.
func (o *outbox) abandon() []letter {
	o.keepBlocks()
	lost := o.flying.drain()
	for ; o.rewound > 0; o.rewound-- {
		lost = append(lost, o.waiting.pop())
	}
	lost = o.begunParts(lost)
	for _, l := range lost {
		o.bytes -= len(l.frame)
	}
	o.acked = 0
	return lost
}

// drain empties the outbox and returns what was in it, in order.
func (o *outbox) drain() []letter {
	all := append(o.abandon(), o.waiting.drain()...)
	all = append(all, o.bulk.drain()...)
	all = append(all, o.lasts.drain()...)
	clear(o.bulky)
	o.parts, o.bytes = 0, 0
	return all
}

// keepBlocks leaves the blocks to the letters that are about to leave the outbox otherwise than
// by an acknowledgement: somebody will still read them.
func (o *outbox) keepBlocks() {
	o.block = nil
	for _, q := range []*queue{&o.waiting, &o.bulk} {
		for i := range q.len() {
			q.letters[q.head+i].used = nil
		}
	}
}

// A queue is first in, first out. The zero value is empty.
type queue struct {
	letters []letter
	head    int // of the first one
}

func (q *queue) len() int { return len(q.letters) - q.head }

func (q *queue) first() *letter { return &q.letters[q.head] }

// before tells whether the first of q was pushed before the first of other, which is not empty.
func (q *queue) before(other queue) bool {
	return q.len() > 0 && q.first().seq < other.first().seq
}

func (q *queue) push(l letter) {
	if len(q.letters) == cap(q.letters) && q.head > len(q.letters)/2 {
		q.letters = slices.Delete(q.letters, 0, q.head)
		q.head = 0
	}
	q.letters = append(q.letters, l)
}

func (q *queue) pop() letter {
	l := *q.first()
	q.drop()
	return l
}

// drop drops the first one.
func (q *queue) drop() {
	*q.first() = letter{}
	q.head++
	if q.head == len(q.letters) {
		q.letters, q.head = q.letters[:0], 0
	}
}

// drain empties the queue and returns what was in it.
func (q *queue) drain() []letter {
	all := q.letters[q.head:]
	*q = queue{}
	return all
}
