// Package sequence has the two ends of at-least-once delivery to a singleton: an [Outbox] keeps the
// messages of one manager until an instance has handled them, and a [Receiver] records how far each
// outbox has come. Both are pure.
package sequence

import (
	"iter"

	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/internal/window"
	"github.com/understudy-go/understudy/remote"
)

// An Outbox keeps the messages sent to one manager until an instance has handled them.
//
// Each message that enters the window gets the next number. More messages wait for the window;
// without room the oldest of these is dropped. A message in the window may have been handled, so it
// stays.
type Outbox[M any] struct {
	window, limit int
	enters        func(msg M, behind int) bool

	open window.Sender[*Kept[M]] // the window
	held fifo.Queue[M]           // what waits for it

	to    remote.NodeID // the manager to which messages are sent
	going bool          // they can be, at the moment
}

// A Kept message is one of the window.
type Kept[M any] struct {
	Msg  M
	Skip bool // it is not sent any more, and has become a dead letter; its number is
	Sent bool // it has been sent at least once

	Failures int // of instances at it, wherever they ran
}

// NewOutbox returns an outbox with a window, beyond which up to limit messages wait. It asks enters
// whether a message may enter the window; behind is how many wait behind it. A message that may not
// is forgotten, and gets no number.
func NewOutbox[M any](window, limit int, enters func(msg M, behind int) bool) *Outbox[M] {
	return &Outbox[M]{window: window, limit: limit, enters: enters}
}

// Tell takes a message. It returns the messages for which there is no more room.
func (q *Outbox[M]) Tell(msg M) (over []M) {
	q.held.Push(msg)
	q.advance()
	for q.held.Len() > q.limit {
		over = append(over, q.held.Pop())
	}
	return over
}

func (q *Outbox[M]) advance() {
	for q.open.Len() < q.window && q.held.Len() > 0 {
		if msg := q.held.Pop(); q.enters(msg, q.held.Len()) {
			q.open.Push(&Kept[M]{Msg: msg})
		}
	}
}

// Aim directs messages to a manager from now on. For a new manager it starts with the first message
// that has not been handled. For the same manager it reports whether messages may be in flight to
// it, so that a check is useful.
func (q *Outbox[M]) Aim(to remote.NodeID) (check bool) {
	resumed := !q.going
	q.going = true
	if to != q.to {
		// The former manager may have handled messages that it has not acknowledged. The new one
		// ignores them if it has the former one's watermarks; without, only a repetition is safe.
		q.to = to
		q.open.Restart()
		return false
	}
	return resumed && q.open.Pending()
}

// Pause sends nothing for now.
func (q *Outbox[M]) Pause() { q.going = false }

// Going reports whether messages can be sent at the moment.
func (q *Outbox[M]) Going() bool { return q.going }

// To returns the manager to which messages are sent.
func (q *Outbox[M]) To() remote.NodeID { return q.to }

// Next returns the message to send now, if any, with its number.
func (q *Outbox[M]) Next() (number uint64, k *Kept[M], ok bool) {
	if !q.going {
		return 0, nil, false
	}
	if number, ok = q.open.Next(q.open.Last()); !ok {
		return 0, nil, false
	}
	return number, q.open.At(number), true
}

// First returns the number of the oldest message that may not have been handled.
func (q *Outbox[M]) First() uint64 { return q.open.Acked() + 1 }

// Sent returns the highest number that was sent to the present manager.
func (q *Outbox[M]) Sent() uint64 { return q.open.Sent() }

// All yields the messages that may not have been handled, and those that wait for the window.
func (q *Outbox[M]) All() iter.Seq[*M] {
	return func(yield func(*M) bool) {
		for _, k := range q.open.All() {
			if !k.Skip && !yield(&k.Msg) {
				return
			}
		}
		held := q.held.All()
		for i := range held {
			if !yield(&held[i]) {
				return
			}
		}
	}
}

// Handled forgets the messages that instances have handled, up to a number.
func (q *Outbox[M]) Handled(number uint64) {
	q.open.Ack(number, nil)
	q.advance()
}

// Failed notes how many instances have failed at the message with a number, if that is the oldest.
func (q *Outbox[M]) Failed(number uint64, failures int) {
	if number == q.First() && q.open.Len() > 0 {
		k := q.open.At(number)
		k.Failures = max(k.Failures, failures)
	}
}

// Again goes back to the number after received, which is the last that from has got.
func (q *Outbox[M]) Again(from remote.NodeID, received uint64) {
	if from == q.to {
		q.open.Rewind(received)
	}
}

// Refused returns the message that an instance's node has refused, in an answer that says that all
// up to handled were handled or refused. ok is false if the refusal was known, or the message is
// not ours.
func (q *Outbox[M]) Refused(r window.Refusal, handled uint64) (msg M, ok bool) {
	k, ok := q.open.Refused(r, handled)
	if !ok || k.Skip {
		return msg, false
	}
	return k.Msg, true
}

// Last returns the number that the newest message has, or will have if none before it gives way.
func (q *Outbox[M]) Last() uint64 { return q.open.Last() + uint64(q.held.Len()) }

// Past reports whether all messages up to a number have been handled, or none is left.
func (q *Outbox[M]) Past(number uint64) bool { return q.open.Acked() >= number || q.Open() == 0 }

// Open returns how many messages may not have been handled.
func (q *Outbox[M]) Open() int { return q.open.Len() }

// Held returns how many messages wait for the window.
func (q *Outbox[M]) Held() int { return q.held.Len() }

// Remove takes out the oldest messages for which gone is true, but none that has been sent, because
// it may have been handled. Their numbers are sent without them.
func (q *Outbox[M]) Remove(gone func(M) bool) (removed []M) {
	for _, k := range q.open.All() {
		switch {
		case k.Skip || k.Sent:
		case !gone(k.Msg):
			return removed
		default:
			removed = append(removed, k.Msg)
			*k = Kept[M]{Skip: true} // its number remains: a gap would make the receiver ask for it for ever
		}
	}
	for q.held.Len() > 0 && gone(q.held.At(0)) {
		removed = append(removed, q.held.Pop())
	}
	return removed
}

// Sweep takes out all messages beyond the window for which gone is true, when there is no room for
// another.
func (q *Outbox[M]) Sweep(gone func(M) bool) (removed []M) {
	if q.held.Len() < q.limit {
		return nil
	}
	return q.held.Remove(gone)
}

// Oldest returns the message that has waited the longest without being sent, if any.
func (q *Outbox[M]) Oldest() []M {
	for _, k := range q.open.All() {
		if !k.Skip && !k.Sent {
			return []M{k.Msg}
		}
	}
	if q.held.Len() > 0 {
		return []M{q.held.At(0)}
	}
	return nil
}

// Drain empties the outbox and returns what was in it, apart from what has become a dead letter.
// Messages that are told later have higher numbers.
func (q *Outbox[M]) Drain() []M {
	var all []M
	for _, k := range q.open.All() {
		if !k.Skip {
			all = append(all, k.Msg)
		}
	}
	q.open = window.Resume[*Kept[M]](q.open.Acked(), nil)
	return append(all, q.held.Drain()...)
}
