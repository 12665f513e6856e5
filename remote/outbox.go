package remote

import (
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/actor"
)

// A letter is a frame on its way, and what it takes to say that it was lost.
type letter struct {
	frame []byte
	sys   *actor.System // nil on the control lane: nobody is told
	to    string        // the recipient, as in a dead letter
	used  *fullBlock    // holds only frames of letters before this one; nil for none
}

// An outbox keeps the letters of one session in order, from when they are sent until
// the peer has acknowledged them. It is a value without locks and clocks.
type outbox struct {
	maxLetters int // that wait
	maxBytes   int // of all

	waiting queue  // not written to the present connection
	flying  queue  // written, but not acknowledged
	acked   uint64 // how many letters of the session the peer has acknowledged
	bytes   int    // of all frames
	block   block  // holds the frames that were pushed last
}

func (o *outbox) len() int { return o.waiting.len() + o.flying.len() }

// push adds a letter, unless there is no room for it. It keeps a copy of the frame.
func (o *outbox) push(l letter) bool {
	if o.waiting.len() >= o.maxLetters || o.bytes+len(l.frame) > o.maxBytes && o.len() > 0 {
		return false
	}
	if o.len() == 0 {
		o.block.clear()
	}
	l.frame, l.used = o.block.keep(l.frame)
	o.waiting.push(l)
	o.bytes += len(l.frame)
	return true
}

// dropOldest drops the letter that has waited longest, if there is one that has not been
// written.
func (o *outbox) dropOldest() bool {
	if o.waiting.len() == 0 {
		return false
	}
	o.bytes -= len(o.waiting.pop().frame)
	return true
}

// take appends the next frames to buf, until it is full or nothing waits. A frame that
// is larger than buf is taken alone.
func (o *outbox) take(buf []byte) []byte {
	for o.waiting.len() > 0 {
		next := o.waiting.first().frame
		if len(buf) > 0 && len(buf)+len(next) > cap(buf) {
			return buf
		}
		buf = append(buf, next...)
		o.flying.push(o.waiting.pop())
	}
	return buf
}

// acknowledge drops the letters that the peer has, by the count of all of the session.
func (o *outbox) acknowledge(count uint64) error {
	if count < o.acked || count > o.acked+uint64(o.flying.len()) {
		return fmt.Errorf("%w: %d letters acknowledged, of which %d were before, and %d more sent", ErrFrame, count, o.acked, o.flying.len())
	}
	for ; o.acked < count; o.acked++ {
		l := o.flying.pop()
		o.bytes -= len(l.frame)
		if l.used != nil {
			fullBlocks.Put(l.used)
		}
	}
	return nil
}

// rewind makes what flew wait again, for a new connection.
func (o *outbox) rewind() {
	if o.flying.len() > 0 {
		o.waiting.letters = append(o.flying.drain(), o.waiting.drain()...)
	}
}

// abandon begins a new session. It returns the letters of which nobody knows whether they
// have arrived.
func (o *outbox) abandon() []letter {
	lost := o.flying.drain()
	o.keepBlocks()
	for _, l := range lost {
		o.bytes -= len(l.frame)
	}
	o.acked = 0
	return lost
}

// drain empties the outbox and returns what was in it, in order.
func (o *outbox) drain() []letter {
	all := append(o.abandon(), o.waiting.drain()...)
	o.bytes = 0
	return all
}

// keepBlocks leaves the blocks to the letters that are about to leave the outbox otherwise than
// by an acknowledgement: somebody will still read them.
func (o *outbox) keepBlocks() {
	o.block = nil
	for i := range o.waiting.len() {
		o.waiting.letters[o.waiting.head+i].used = nil
	}
}

// A queue is first in, first out. The zero value is empty.
type queue struct {
	letters []letter
	head    int // of the first one
}

func (q *queue) len() int { return len(q.letters) - q.head }

func (q *queue) first() *letter { return &q.letters[q.head] }

func (q *queue) push(l letter) {
	if len(q.letters) == cap(q.letters) && q.head > len(q.letters)/2 {
		q.letters = slices.Delete(q.letters, 0, q.head)
		q.head = 0
	}
	q.letters = append(q.letters, l)
}

func (q *queue) pop() letter {
	l := q.letters[q.head]
	q.letters[q.head] = letter{}
	q.head++
	if q.head == len(q.letters) {
		q.letters, q.head = q.letters[:0], 0
	}
	return l
}

// drain empties the queue and returns what was in it.
func (q *queue) drain() []letter {
	all := q.letters[q.head:]
	*q = queue{}
	return all
}
