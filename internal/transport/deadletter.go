package transport

import (
	"bytes"
	"math"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/transport/outbox"
	"github.com/understudy-go/understudy/internal/transport/wire"
)

// deadLetter decodes the message again, because the sender may have changed the original. users
// says whether the frame had a message of the user.
func deadLetter(x outbox.Frame, reason error) (users bool) {
	if x.System == nil {
		return false
	}
	msg := messageOf(&x)
	extension.DeadLetter(x.System, x.To, msg, reason)
	return isOfUser(x.System, msg)
}

// isOfUser is also true for what carries one; see [extension.DeadLetter].
func isOfUser(s *actor.System, msg any) bool {
	c, carrier := msg.(interface {
		Carried(s *actor.System) (recipient string, msg any, ok bool)
	})
	if !carrier {
		return true
	}
	carries := false
	err := guard.Do(func() { _, _, carries = c.Carried(s) })
	return carries || err != nil
}

// A message that cannot be decoded is its payload.
func messageOf(x *outbox.Frame) any {
	env, err := wire.NewEnvelopeReader(math.MaxInt).Read(x.Envelope()[wire.HeaderSize:])
	if err != nil {
		return clonePayload(env.Payload)
	}
	msg, err := extension.Unpack(x.System, env.Payload)
	if err != nil {
		return clonePayload(env.Payload)
	}
	return msg
}

func clonePayload(p extension.Payload) extension.Payload {
	p.Data = bytes.Clone(p.Data)
	return p
}
