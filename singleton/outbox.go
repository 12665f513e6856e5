package singleton

import (
	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/internal/node"
)

// An outbox keeps what was told to one manager until an instance has handled it. It is
// pure.
//
// Messages have numbers, without gaps, from one on: one to each that comes into the
// window. Beyond the window they wait, and the oldest of those that wait gives way when
// there is no room; what is in the window may have been handled, and stays.
type outbox[M any] struct {
	window, limit int

	acked uint64               // all up to this number have been handled
	open  fifo.Queue[*kept[M]] // the window: from the number after that on
	held  fifo.Queue[M]

	to    node.ID // where they are sent
	going bool    // they can be, at the moment
	sent  uint64  // the highest number that was sent there
}

// A kept message is one of the window.
type kept[M any] struct {
	msg  M
	void bool // it cannot be sent, and has become a dead letter; its number is
	sent bool // it has been sent at least once
}

// tell takes a message. What has no room any more is returned.
func (q *outbox[M]) tell(msg M) (over []M) {
	q.held.Push(msg)
	q.advance()
	for q.held.Len() > q.limit {
		over = append(over, q.held.Pop())
	}
	return over
}

// advance moves what waits into the window.
func (q *outbox[M]) advance() {
	for q.open.Len() < q.window && q.held.Len() > 0 {
		q.open.Push(&kept[M]{msg: q.held.Pop()})
	}
}

// aim sends messages to a manager from now on, from the first that has not been handled
// when it is another than before. It reports whether it is the same and there may be
// messages on their way to it: then it is good to check.
func (q *outbox[M]) aim(to node.ID) (check bool) {
	resumed := !q.going
	q.going = true
	if to != q.to {
		q.to, q.sent = to, q.acked
		return false
	}
	return resumed && q.sent > q.acked
}

// pause sends nothing for now.
func (q *outbox[M]) pause() { q.going = false }

// next returns the message that can go now, if any, with its number.
func (q *outbox[M]) next() (number uint64, k *kept[M], ok bool) {
	if !q.going || q.sent == q.acked+uint64(q.open.Len()) {
		return 0, nil, false
	}
	q.sent++
	return q.sent, q.open.At(int(q.sent - q.acked - 1)), true
}

// handled forgets what instances have handled, up to a number.
func (q *outbox[M]) handled(number uint64) {
	for q.acked < number && q.open.Len() > 0 {
		q.open.Pop()
		q.acked++
	}
	q.sent = max(q.sent, q.acked)
	q.advance()
}

// again goes back to the number after the one given, as from has got nothing after that.
func (q *outbox[M]) again(from node.ID, received uint64) {
	if from == q.to {
		q.sent = min(q.sent, max(received, q.acked))
	}
}

// last returns the number that the newest message has, or is going to have when none
// before it gives way.
func (q *outbox[M]) last() uint64 { return q.acked + uint64(q.open.Len()+q.held.Len()) }

// past reports whether all messages up to a number have been handled, or nothing is left.
func (q *outbox[M]) past(number uint64) bool { return q.acked >= number || !q.unsettled() }

// unsettled reports whether there is something that may not have been handled.
func (q *outbox[M]) unsettled() bool { return q.open.Len() > 0 }

// remove takes out the messages that gone says, from the oldest on, but none that has been sent:
// it may have been handled. Their numbers are sent without them.
func (q *outbox[M]) remove(gone func(M) bool) (removed []M) {
	for i := range q.open.Len() {
		switch k := q.open.At(i); {
		case k.void || k.sent:
		case !gone(k.msg):
			return removed
		default:
			removed = append(removed, k.msg)
			*k = kept[M]{void: true}
		}
	}
	for q.held.Len() > 0 && gone(q.held.At(0)) {
		removed = append(removed, q.held.Pop())
	}
	return removed
}

// sweep takes out the messages beyond the window that gone says, wherever they are, when there is
// no room for more.
func (q *outbox[M]) sweep(gone func(M) bool) (removed []M) {
	if q.held.Len() < q.limit {
		return nil
	}
	return q.held.Remove(gone)
}

// first returns the message that has waited the longest without being sent, if any.
func (q *outbox[M]) first() []M {
	for i := range q.open.Len() {
		if k := q.open.At(i); !k.void && !k.sent {
			return []M{k.msg}
		}
	}
	if q.held.Len() > 0 {
		return []M{q.held.At(0)}
	}
	return nil
}

// drain empties the outbox and returns what was in it, but for what has become a dead
// letter before.
func (q *outbox[M]) drain() []M {
	var all []M
	for _, k := range q.open.Drain() {
		if !k.void {
			all = append(all, k.msg)
		}
	}
	return append(all, q.held.Drain()...)
}
