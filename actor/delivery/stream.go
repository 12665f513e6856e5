package delivery

import (
	"fmt"
	"strings"

	"github.com/understudy-go/understudy/actor"
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
