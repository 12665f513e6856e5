package placement

import (
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/payload"
)

// A stay is the time in which an actor of a label takes messages on this node.
type stay struct {
	lane    *lane
	deliver func(letter) error // to the actor
	begun   bool               // mu of the lane guards this and left
	left    bool
}

// begin lets messages come to the actor, unless it has been asked to stop. It returns an error if
// refs on this node take other messages.
func (s *stay) begin(label string, message reflect.Type, deliver func(letter) error) error {
	l := s.lane
	if err := l.use(label, message); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.left {
		return nil
	}
	s.begun, s.deliver, l.stay = true, deliver, s
	l.rerouteHeld()
	// The other nodes hear of it when the lane takes their messages: before, it would return them.
	receptionist.Register(l.hub.system, l.key(), l.hub.ref)
	return nil
}

// leave lets messages wait for the next actor of the label. The actor gets none any more when leave
// has returned. It may be called again.
func (s *stay) leave() {
	l := s.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	s.left = true
	if l.stay == s {
		l.stay = nil
		receptionist.Deregister(l.hub.system, l.key(), l.hub.ref)
		l.rerouteHeld()
	}
}

// takes reports whether the actor has begun to take messages.
func (s *stay) takes() bool {
	s.lane.mu.Lock()
	defer s.lane.mu.Unlock()
	return s.begun
}

// deliverTo returns what delivers letters to a placed actor. A node that uses the label with
// another type of messages sends some that the actor does not take.
func deliverTo[M any](ref actor.ActorRef[M]) func(letter) error {
	return func(of letter) error {
		msg, ok := payload.As[M](of.Message)
		if !ok {
			return fmt.Errorf("%w: it got %T, and takes %v", actor.ErrWrongType, of.Message, reflect.TypeFor[M]())
		}
		extension.TellNoWaitWith(ref, msg, of.Metadata)
		return nil
	}
}
