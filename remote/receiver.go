package remote

import (
	"github.com/understudy-go/understudy/actor"
)

// A receiver decodes the frames of a user lane and delivers them, some at a time: an actor that
// is told one message after the other, each after a while of decoding, would be woken for each.
type receiver struct {
	end     *Endpoint
	sys     *actor.System
	reader  *envelopeReader
	parts   *joiner   // those of the session
	decoded []arrival // not delivered yet
	bytes   int       // of these, before they were decoded
}

// An arrival is a message that has been decoded.
type arrival struct {
	path string
	uid  uint64
	msg  any
}

// How many messages are delivered together: no more than maxArrivals, and none once those that
// are there had maxGathered bytes, as what is decompressed or in parts may be large.
const (
	maxArrivals = 64
	maxGathered = 64 << 10
)

// newReceiver returns one for the system that the endpoint serves.
func newReceiver(e *Endpoint, in *inbound) *receiver {
	return &receiver{end: e, sys: e.system.Load(), reader: newEnvelopeReader(e.cfg.MaxMessage), parts: &in.parts}
}

// receive decodes the body of a frame. It fails with [ErrFrame].
func (r *receiver) receive(body []byte) error {
	if isPart(body) {
		var err error
		if body, err = r.parts.join(r.reader, body, r.end.cfg.MaxMessage); err != nil || body == nil {
			return err
		}
	}
	env, err := r.reader.read(body)
	if err != nil {
		return err
	}
	msg, err := unpack(r.sys, env.payload)
	if err != nil {
		r.deliver() // in order
		r.end.logType(env.payload.Type, "message cannot be decoded", err)
		r.sys.DeadLetter(fullPath(r.sys, env), clonePayload(env.payload), err)
		return nil
	}
	r.decoded = append(r.decoded, arrival{env.path, env.uid, msg})
	r.bytes += len(env.payload.Data)
	if len(r.decoded) == maxArrivals || r.bytes >= maxGathered {
		r.deliver()
	}
	return nil
}

// deliver delivers what has been decoded.
func (r *receiver) deliver() {
	for _, a := range r.decoded {
		r.sys.Deliver(a.path, a.uid, a.msg)
	}
	clear(r.decoded)
	r.decoded, r.bytes = r.decoded[:0], 0
}
