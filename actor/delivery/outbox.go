package delivery

import "github.com/understudy-go/understudy/internal/window"

// An outbox sends no more than the consumer has requested.
type outbox[T any] struct {
	window.Sender[T]
	upTo      uint64 // the highest number that may be sent
	connected bool   // there is a consumer
}

// The window of a new consumer is not known: the first message asks.
func (o *outbox[T]) connect() {
	o.Restart()
	o.connected, o.upTo = true, o.Acked()+1
}

// The producer sends none of them twice.
func (o *outbox[T]) forget() { o.Ack(o.Sent(), nil) }

func (o *outbox[T]) room() bool { return o.connected && o.Last() < o.upTo }

func (o *outbox[T]) next() (number uint64, ok bool) {
	if !o.connected {
		return 0, false
	}
	return o.Next(o.upTo)
}

func (o *outbox[T]) pending() bool { return o.connected && o.Pending() }

// done is called for each confirmed message in order; a message for which it returns false is kept.
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
