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
	over    bool   // it is too large
}

// mostWaiting is how many windows of a stream may wait. One is what a producer is told of;
// another may be left of what it has had confirmed by somebody else meanwhile.
const mostWaiting = 2

// join adds a part to those that have come. When it is the last one, m is the whole
// message, or a void one if that is larger than limit: the part that is too much gets
// [ErrTooLarge].
func (s *stream) join(m *sequenced, limit int) (complete bool, err error) {
	if m.Part == 0 {
		s.parts, s.over = nil, false
		if !m.More {
			return true, nil
		}
	}
	switch {
	case s.over:
	case len(s.parts)+len(m.Payload.Data) > limit:
		s.parts, s.over = nil, true
		err = fmt.Errorf("%w: %s has more than %d bytes in parts; MaxBytes of the consumer allows more", ErrTooLarge, m.Payload.Type, limit)
	default:
		s.parts = append(s.parts, m.Payload.Data...)
	}
	if m.More {
		return false, err
	}
	m.Void = m.Void || s.over
	m.Payload.Data, s.parts, s.over = s.parts, nil, false
	return true, err
}
