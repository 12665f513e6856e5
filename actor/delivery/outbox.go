package delivery

import "github.com/understudy-go/understudy/internal/window"

// An outbox keeps the messages to a consumer until they are confirmed. It sends no more than the
// consumer has requested. It is a pure state machine.
type outbox[T any] struct {
	window.Sender[T]
	upTo      uint64 // the highest number that may be sent
	connected bool   // there is a consumer
}

// connect begins to send to a new consumer, whose window is not known: the first message asks.
func (o *outbox[T]) connect() {
	o.Restart()
	o.connected, o.upTo = true, o.Acked()+1
}

// forget drops the messages that were sent, for a producer that sends none twice.
func (o *outbox[T]) forget() { o.Ack(o.Sent(), nil) }

// room reports whether a message that is pushed now would be sent at once.
func (o *outbox[T]) room() bool { return o.connected && o.Last() < o.upTo }

// next returns the number of the message that can be sent now, if any.
func (o *outbox[T]) next() (number uint64, ok bool) {
	if !o.connected {
		return 0, false
	}
	return o.Next(o.upTo)
}

// pending reports whether a message was sent and is not confirmed.
func (o *outbox[T]) pending() bool { return o.connected && o.Pending() }

// request handles a request of the consumer, and reports whether it brought progress. done is
// called for each confirmed message in order; a message for which it returns false is kept.
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
