package delivery

import (
	"fmt"

	"github.com/understudy-go/understudy/actor"
)

// A stream is the messages of one producer, as its consumer sees them.
type stream struct {
	inbox
	from    actor.ActorRef[request]
	durable bool
	waiting uint64 // messages that were received and are not confirmed
	parts   []byte // of an incomplete message
	failure error  // why the incomplete message is refused
}

// mostWaiting is how many windows of messages of a stream may wait. The producer may fill one;
// another may be left over from messages that a different consumer has confirmed meanwhile.
const mostWaiting = 2

// join adds a part to those received, and reports whether it is the last one. Then m is the whole
// message, unless s.failure is [ErrTooLarge].
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
