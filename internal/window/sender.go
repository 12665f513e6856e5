package window

import "github.com/understudy-go/understudy/internal/fifo"

// A Sender keeps messages until they are acknowledged. It gives them consecutive numbers, from 1
// on. The zero Sender is empty.
type Sender[T any] struct {
	acked uint64        // all numbers up to this one are acknowledged
	sent  uint64        // the highest number that was sent to the receiver, or acknowledged
	kept  fifo.Queue[T] // from number acked+1 on
}

// Resume returns a sender that keeps messages, the first of which has the number acked+1. It
// takes messages over.
func Resume[T any](acked uint64, messages []T) Sender[T] {
	return Sender[T]{acked: acked, sent: acked, kept: fifo.Of(messages)}
}

// Acked returns the number up to which all messages are acknowledged.
func (s *Sender[T]) Acked() uint64 { return s.acked }

// Sent returns the highest number that was sent to the current receiver, or acknowledged.
func (s *Sender[T]) Sent() uint64 { return s.sent }

// Last returns the number of the newest message.
func (s *Sender[T]) Last() uint64 { return s.acked + uint64(s.kept.Len()) }

// Len returns how many messages are not acknowledged.
func (s *Sender[T]) Len() int { return s.kept.Len() }

// Pending reports whether a message was sent to the current receiver and is not acknowledged.
func (s *Sender[T]) Pending() bool { return s.sent > s.acked }

// Push adds a message.
func (s *Sender[T]) Push(msg T) { s.kept.Push(msg) }

// At returns the message with a number, which must be above Acked and not above Last.
func (s *Sender[T]) At(number uint64) T { return s.kept.At(int(number - s.acked - 1)) }

// All returns the messages that are not acknowledged, oldest first. The caller must not change
// the slice.
func (s *Sender[T]) All() []T { return s.kept.All() }

// Next returns the number of the next message to send, unless all have been sent or the number is
// above limit.
func (s *Sender[T]) Next(limit uint64) (number uint64, ok bool) {
	if s.sent >= min(limit, s.Last()) {
		return 0, false
	}
	s.sent++
	return s.sent, true
}

// Ack acknowledges the messages up to a number, as long as done returns true for them; a nil done
// accepts all. Numbers above Last are ignored: another sender of the stream used them. Ack reports
// whether it removed a message.
func (s *Sender[T]) Ack(upTo uint64, done func(T) bool) (progress bool) {
	for s.acked < upTo && s.kept.Len() > 0 && (done == nil || done(s.kept.At(0))) {
		s.kept.Pop()
		s.acked++
		progress = true
	}
	s.sent = max(s.sent, s.acked)
	return progress
}

// Rewind sends the messages after received again.
func (s *Sender[T]) Rewind(received uint64) { s.sent = min(s.sent, max(received, s.acked)) }

// Restart begins to send to a new receiver: all messages that are not acknowledged are sent again.
func (s *Sender[T]) Restart() { s.sent = s.acked }

// Refused returns the message that a receiver has refused in an answer that acknowledges all
// numbers up to acked. It reports false when the message is not kept any more.
func (s *Sender[T]) Refused(r Refusal, acked uint64) (msg T, ok bool) {
	if r.Number <= s.acked || r.Number > min(acked, s.Last()) {
		return msg, false
	}
	return s.At(r.Number), true
}

// Drain removes and returns the messages that are not acknowledged, oldest first. Their numbers
// count as acknowledged.
func (s *Sender[T]) Drain() []T {
	s.acked = s.Last()
	s.sent = s.acked
	return s.kept.Drain()
}
