package delivery

import "github.com/understudy-go/understudy/internal/fifo"

// An outbox keeps what is sent to a consumer until it has been confirmed. It is pure.
// Messages have numbers without gaps.
type outbox[T any] struct {
	confirmed uint64        // all up to this number
	sent      uint64        // the highest number that was sent to the consumer, or confirmed
	upTo      uint64        // the highest that may be
	kept      fifo.Queue[T] // from the number after confirmed on
	aimed     bool          // there is a consumer
}

func (o *outbox[T]) last() uint64 { return o.confirmed + uint64(o.kept.Len()) }

// aim begins to send to a consumer of which nothing is known: one message finds out.
func (o *outbox[T]) aim() { o.aimed, o.sent, o.upTo = true, o.confirmed, o.confirmed+1 }

// forget drops what has been sent, for a producer that sends nothing twice.
func (o *outbox[T]) forget() {
	for o.confirmed < o.sent {
		o.kept.Pop()
		o.confirmed++
	}
}

// room reports whether a message that is pushed now would be sent at once.
func (o *outbox[T]) room() bool { return o.aimed && o.last() < o.upTo }

// push takes a message.
func (o *outbox[T]) push(msg T) { o.kept.Push(msg) }

// next returns the message that can go now, if any.
func (o *outbox[T]) next() (number uint64, ok bool) {
	if !o.aimed || o.sent >= o.upTo || o.sent >= o.last() {
		return 0, false
	}
	o.sent++
	return o.sent, true
}

// at returns a message that has not been confirmed.
func (o *outbox[T]) at(number uint64) T { return o.kept.At(int(number - o.confirmed - 1)) }

// unsettled reports whether something was sent and not confirmed.
func (o *outbox[T]) unsettled() bool { return o.aimed && o.sent > o.confirmed }

// request takes what the consumer says, and reports whether there is progress. It counts the
// numbers that the consumer confirms, as long as done, which is called with each, takes them.
// The consumer may know more than was sent since the aim, when it was aimed at before, but of
// no more than there is.
func (o *outbox[T]) request(r request, done func(T) bool) (progress bool) {
	for o.confirmed < min(r.Confirmed, o.last()) && done(o.kept.At(0)) {
		o.kept.Pop()
		o.confirmed++
		progress = true
	}
	o.sent = max(o.sent, o.confirmed)
	if r.UpTo > o.upTo {
		o.upTo, progress = r.UpTo, true
	}
	if r.Again && r.Received < o.sent {
		o.sent = max(r.Received, o.confirmed)
	}
	return progress
}
