package delivery

import (
	"fmt"

	"github.com/understudy-go/understudy/actor"
)

// A stream is what comes from one producer.
type stream struct {
	inbox
	from    actor.ActorRef[request]
	durable bool
	waiting uint64 // messages that have come and not been confirmed here
	parts   []byte // of a message that is not complete
	failure error  // it cannot be gathered
}

// mostWaiting is how many windows of a stream may wait. One is what a producer is told of;
// another may be left of what it has had confirmed by somebody else meanwhile.
const mostWaiting = 2

// join adds a part to those that have come, and reports whether it is the last one. Then m is
// the whole message, or s.failure says why it is not: [ErrTooLarge].
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
