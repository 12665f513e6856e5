package delivery

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// Messages between producers, consumers and queues do not become dead letters: the producer keeps
// the messages of users, and asks again for answers that are lost.

type noPayload struct{}

func (noPayload) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// With [FlowControlOnly] the message is lost.
func (s sequenced) Carried(sys *actor.System) (string, any, bool) {
	if !s.FlowOnly || s.Void {
		return "", nil, false
	}
	msg := s.local
	if s.Payload.Type != "" {
		var err error
		if msg, err = extension.Unpack(sys, s.Payload); err != nil {
			msg = s.Payload
		}
	}
	return "consumer of " + s.From.Path(), msg, true
}

func (request) Carried(*actor.System) (string, any, bool) { return "", nil, false }
