package delivery

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// What producers, consumers and queues say to each other is no dead letter: the producer
// keeps the messages, and what else is lost is asked again.

// nothing is the part of a message that says that it carries nothing.
type nothing struct{}

// Carried implements [actor.Carrier].
func (nothing) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier]. Who keeps nothing has lost the message.
func (s sequenced) Carried(sys *actor.System) (string, any, bool) {
	if !s.Loose || s.Void {
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

// Carried implements [actor.Carrier].
func (request) Carried(*actor.System) (string, any, bool) { return "", nil, false }
