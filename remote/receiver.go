package remote

import (
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/payload"
	"github.com/understudy-go/understudy/remote/internal/wire"
)

// A receiver decodes the frames of a user channel and delivers the messages in batches, so that an
// actor is not woken for each one.
type receiver struct {
	node    *localNode
	sys     *actor.System
	reader  *wire.EnvelopeReader
	parts   *wire.Reassembler // those of the session
	decoded []any             // not delivered yet
	sizes   []int             // of these, before they were decoded
	runs    []run             // the actors that these are for
	bytes   int               // all sizes
}

// A run is consecutive messages for the same actor.
type run struct {
	path  string
	uid   uint64
	count int
}

// A batch has at most maxArrivals messages, and ends once they have maxGathered bytes, because
// decompressed and reassembled messages may be large.
const (
	maxArrivals = 64
	maxGathered = 64 << 10
)

func newReceiver(n *localNode, s *actor.System, in *inbound) *receiver {
	return &receiver{node: n, sys: s, reader: wire.NewEnvelopeReader(n.cfg.MaxMessage), parts: &in.parts}
}

// receive decodes the body of a frame. An invalid body becomes a dead letter and costs no other
// message, because the next frame can be found.
func (r *receiver) receive(body []byte) {
	whole := wire.IsPart(body)
	if whole {
		assembled, lost, err := r.parts.Add(r.reader, body, r.node.cfg.MaxMessage)
		if err != nil {
			r.refuse(lost, err)
		}
		body = assembled
	}
	if body != nil {
		r.open(body, whole)
	}
}

// open decodes an envelope and puts the message aside. own says that nobody else uses body.
func (r *receiver) open(body []byte, own bool) {
	if limit := r.node.cfg.MaxMessage; len(body) > limit {
		r.refuse(body, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, len(body), limit))
		return
	}
	env, err := r.reader.Read(body)
	if err != nil {
		r.refuse(body, err)
		return
	}
	msg, err := r.unpack(env.Payload, own || env.Own)
	if err != nil {
		r.lose(env, err)
		return
	}
	r.put(env, msg)
	if len(r.decoded) == maxArrivals || r.bytes >= maxGathered {
		r.deliver()
	}
}

// unpack decodes a message. The message may share the memory of its payload if nobody else uses it.
func (r *receiver) unpack(p extension.Payload, own bool) (any, error) {
	if !own {
		return extension.Unpack(r.sys, p)
	}
	return payload.UnpackOwned(p, func(v reflect.Value) error { return actorhook.Bind(r.sys, v) })
}

// refuse makes a dead letter of an envelope that cannot be read, or of its beginning. The
// recipient may be readable.
func (r *receiver) refuse(body []byte, why error) {
	env, err := r.reader.Read(body)
	if err != nil {
		env.Payload.Data = body
	}
	r.lose(env, fmt.Errorf("%w: %w", actor.ErrNotDecodable, why))
}

// lose makes a dead letter of a message that cannot be delivered, in order with the others.
func (r *receiver) lose(env wire.Envelope, why error) {
	r.deliver()
	r.node.logType(env.Payload.Type, "message cannot be decoded", why)
	extension.DeadLetter(r.sys, fullPath(r.sys, env), clonePayload(env.Payload), why)
}

// put puts a message aside.
func (r *receiver) put(env wire.Envelope, msg any) {
	r.decoded = append(r.decoded, msg)
	r.sizes = append(r.sizes, len(env.Payload.Data))
	r.bytes += len(env.Payload.Data)
	if last := len(r.runs) - 1; last >= 0 && r.runs[last].path == env.Path && r.runs[last].uid == env.UID {
		r.runs[last].count++
		return
	}
	r.runs = append(r.runs, run{env.Path, env.UID, 1})
}

// deliver delivers the messages that were put aside.
func (r *receiver) deliver() {
	msgs, sizes := r.decoded, r.sizes
	for _, to := range r.runs {
		extension.DispatchAll(r.sys, to.path, to.uid, msgs[:to.count], sizes[:to.count])
		msgs, sizes = msgs[to.count:], sizes[to.count:]
	}
	clear(r.decoded)
	clear(r.runs)
	r.decoded, r.sizes, r.runs, r.bytes = r.decoded[:0], r.sizes[:0], r.runs[:0], 0
}
