package delivery

import (
	"fmt"
	"strings"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/window"
)

type stream struct {
	inbox
	from    actor.ActorRef[request]
	durable bool
	byID    bool   // the producer sends to this actor by an id
	waiting uint64 // messages that were received and are not confirmed
	parts   []byte // of an incomplete message
	failure error  // why the incomplete message is refused
}

// mostWaiting is how many windows of messages of a stream may wait. The producer may fill one;
// another may be left over from messages that a different consumer has confirmed meanwhile.
const mostWaiting = 2

// When the last part has come, m is the whole message, unless s.failure is [ErrTooLarge].
func (s *stream) join(m *sequenced, limit int) (complete bool) {
	if m.Part == 0 {
		s.parts, s.failure = nil, nil
		if !m.More {
			return true
		}
	}
	switch {
	case s.failure != nil:
	case len(s.parts)+len(m.Payload.Data) > limit:
		s.parts = nil
		s.failure = fmt.Errorf("%w: %s needs more than %d bytes; MaxBytes of the consumer allows more", ErrTooLarge, m.Payload.Type, limit)
	default:
		s.parts = append(s.parts, m.Payload.Data...)
	}
	m.Payload.Data = s.parts
	if !m.More {
		s.parts = nil
	}
	return !m.More
}

// The name of a stream that ends with its producer has three parts, separated by a byte that no
// name has:
//
//	id of the queue      ""                stream at random
//	hash of the path     start at random   stream at random
//
// The name of another stream is the id of its queue.
const streamSeparator = "\x00"

// The owner is what the stream's name shares with those of the producer's former incarnations; ""
// for a stream that does not end with its producer.
func ownerOf(stream string) string {
	owner, _, found := strings.Cut(stream, streamSeparator)
	if !found {
		return ""
	}
	return owner
}

func numberingOf(stream string) string {
	owner, rest, found := strings.Cut(stream, streamSeparator)
	start, _, _ := strings.Cut(rest, streamSeparator)
	if !found || start == "" {
		return owner
	}
	return owner + "." + start
}

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
