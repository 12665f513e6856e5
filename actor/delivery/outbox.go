package delivery

import "github.com/understudy-go/understudy/internal/window"

// An outbox keeps what is sent to a consumer until it is confirmed, and sends no more than the
// consumer has asked for. It is pure.
type outbox[T any] struct {
	window.Sender[T]
	upTo  uint64 // the highest number that may be sent
	aimed bool   // there is a consumer
}

// aim begins to send to a consumer of which nothing is known: one message finds out.
func (o *outbox[T]) aim() {
	o.Restart()
	o.aimed, o.upTo = true, o.Acked()+1
}

// forget drops what has been sent, for a producer that sends nothing twice.
func (o *outbox[T]) forget() { o.Ack(o.Sent(), nil) }

// room reports whether a message that is pushed now would be sent at once.
func (o *outbox[T]) room() bool { return o.aimed && o.Last() < o.upTo }

// next returns the number of the message that can be sent now, if any.
func (o *outbox[T]) next() (number uint64, ok bool) {
	if !o.aimed {
		return 0, false
	}
	return o.Next(o.upTo)
}

// pending reports whether a message was sent and is not confirmed.
func (o *outbox[T]) pending() bool { return o.aimed && o.Pending() }

// request takes what the consumer says, and reports whether there is progress. A confirmation
// counts once done, which is called for each message in order, returns true for it.
func (o *outbox[T]) request(r request, done func(T) bool) (progress bool) {
	progress = o.Ack(r.Confirmed, done)
	if r.UpTo > o.upTo {
		o.upTo, progress = r.UpTo, true
	}
	if r.Again {
		o.Rewind(r.Received)
	}
	return progress
}
