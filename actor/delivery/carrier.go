package delivery

import "github.com/understudy-go/understudy/actor"

// What producers, consumers and queues say to each other is no dead letter: the producer
// keeps the messages, and what else is lost is asked again.

// nothing is the part of a message that says that it carries nothing.
type nothing struct{}

// Carried implements [actor.Carrier].
func (nothing) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier]. Who keeps nothing has lost the message.
func (m sequenced) Carried(s *actor.System) (string, any, bool) {
	if !m.Loose || m.Void {
		return "", nil, false
	}
	msg := m.local
	if m.Payload.Type != "" {
		var err error
		if msg, err = m.Payload.Unpack(s); err != nil {
			msg = m.Payload
		}
	}
	return "consumer of " + m.From.Path(), msg, true
}

// Carried implements [actor.Carrier].
func (request) Carried(*actor.System) (string, any, bool) { return "", nil, false }
