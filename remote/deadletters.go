package remote

import (
	"bytes"
	"math"

	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/remote/internal/outbox"
	"github.com/understudy-go/understudy/remote/internal/wire"
)

// deadLetter makes a dead letter of a queued frame. Its message is decoded again, because the
// sender may have changed the original.
func deadLetter(x outbox.Frame, reason error) {
	if x.System == nil {
		return
	}
	extension.DeadLetter(x.System, x.To, messageOf(&x), reason)
}

// messageOf decodes the message of a frame, or returns its payload if it cannot be decoded.
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
