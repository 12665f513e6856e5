package transport

import (
	"errors"
	"fmt"
	"strings"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/internal/transport/wire"
	"github.com/understudy-go/understudy/remote"
)

// A receiver delivers the messages in batches, so that an actor is not woken for each one. The
// actors decode them.
type receiver struct {
	node     *localNode
	sys      *actor.System
	dispatch func(path string, uid uint64, all []actorhook.Arrival, by actorhook.Dispatcher)
	lend     func(deliver, goOn func()) (replaced bool)
	stringOf func(path string, uid uint64) string
	reader   *wire.EnvelopeReader
	in       *inbound
	arrived  []actorhook.Arrival // not delivered yet; valid until the next read
	runs     []run               // the actors that these are for
	current  run                 // to which deliver delivers, and
	begin    int                 // where its messages begin
	bytes    int                 // all sizes
}

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
	of := actorhook.Internals(s).(interface { // actor implements it
		Arrivals() func(path string, uid uint64, all []actorhook.Arrival, by actorhook.Dispatcher)
		Lend(deliver, goOn func()) (replaced bool)
		StringOf(path string, uid uint64) string
	})
	return &receiver{node: n, sys: s, dispatch: of.Arrivals(), lend: of.Lend, stringOf: of.StringOf, reader: wire.NewEnvelopeReader(n.cfg.MaxMessage), in: in}
}

// read returns when nothing is read any more. The goroutine that reads runs the actor that a lone
// small message wakes; if it is replaced, nobody waits for it.
func (r *receiver) read() error {
	ended := make(chan error, 1)
	deliver := r.deliver
	var read func()
	lend := func() (replaced bool) {
		if len(r.arrived) != 1 || r.bytes > maxLone {
			deliver()
			return false
		}
		return r.lend(deliver, read)
	}
	read = func() {
		if err := r.in.read(r.receive, deliver, lend); !errors.Is(err, errReplaced) {
			ended <- err
		}
	}
	go read()
	return <-ended
}

// In bytes. A larger message takes a while to be decoded, and others wait meanwhile for the runner
// that is lent.
const maxLone = 4 << 10

// An invalid body becomes a dead letter and costs no other message, because the next frame can be
// found.
func (r *receiver) receive(body []byte) {
	whole := wire.IsPart(body)
	if whole {
		assembled, lost, err := r.in.parts.Add(r.reader, body, r.node.cfg.MaxMessage)
		if err != nil {
			r.refuse(lost, err)
		}
		body = assembled
		if body == nil {
			r.in.arrivals.messages-- // it was not the last part
		}
	}
	if body != nil {
		r.open(body, whole)
	}
}

// own says that the message may keep body.
func (r *receiver) open(body []byte, own bool) {
	if limit := r.node.cfg.MaxMessage; len(body) > limit {
		r.refuse(body, fmt.Errorf("%w: %d bytes, the limit is %d", remote.ErrTooLarge, len(body), limit))
		return
	}
	env, err := r.reader.Read(body)
	if err != nil {
		r.refuse(body, err)
		return
	}
	if env.Unusable {
		r.node.skip(metadataUnusable, r.in.from.Address)
	}
	if r.private(env.Path) {
		// What came before is delivered first, so that the dead letter has its place in the order.
		r.deliver()
		extension.DeadLetter(r.sys, r.stringOf(env.Path, env.UID), clonePayload(env.Payload), remote.ErrPrivate)
		return
	}
	r.put(env, own)
	if len(r.arrived) == maxArrivals || r.bytes >= maxGathered {
		r.deliver()
	}
}

// There is no actor at an invalid path: the user is not asked about it.
func (r *receiver) private(path string) bool {
	reach := r.node.cfg.ClientsReach
	if reach == nil || !isOutbound(r.in.from.Address) || !strings.HasPrefix(path, "/user/") || naming.CheckPath(path) != nil {
		return false
	}
	return !r.node.reaches(reach, path)
}

// The envelope cannot be read, or its beginning. The recipient may be readable.
func (r *receiver) refuse(body []byte, why error) {
	env, err := r.reader.Read(body)
	if err != nil {
		env.Payload.Data = body
	}
	r.deliver() // the dead letter comes in order with the other messages
	r.undecodable(env, fmt.Errorf("%w: %w", actor.ErrNotDecodable, why))
}

// A message of the framework whose kind is unknown comes from a newer release, which can do without
// it: it is only counted.
func (r *receiver) undecodable(env wire.Envelope, why error) {
	if unknown, ok := errors.AsType[*codec.UnknownNameError](why); ok && isOurs(unknown.Name) {
		r.node.skip(unknown.Name, r.in.from.Address)
		return
	}
	r.node.lost.Add(1)
	r.node.logType(env.Payload.Type, "message cannot be decoded", why)
	extension.DeadLetter(r.sys, r.stringOf(env.Path, env.UID), clonePayload(env.Payload), why)
}

// "understudy.refusal" and "understudy/placement.answer" are names of the framework, but not
// "understudyshop.Order".
func isOurs(name string) bool {
	rest, ok := strings.CutPrefix(name, "understudy")
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '/')
}

func (r *receiver) put(env wire.Envelope, own bool) {
	r.arrived = append(r.arrived, actorhook.Arrival{Type: env.Payload.Type, Data: env.Payload.Data, Own: own || env.Own, Metadata: env.Metadata})
	r.bytes += len(env.Payload.Data)
	if last := len(r.runs) - 1; last >= 0 && r.runs[last].path == env.Path && r.runs[last].uid == env.UID {
		r.runs[last].count++
		return
	}
	r.runs = append(r.runs, run{env.Path, env.UID, 1})
}

func (r *receiver) deliver() {
	begin := 0
	for _, to := range r.runs {
		r.current, r.begin = to, begin
		r.dispatch(to.path, to.uid, r.arrived[begin:begin+to.count], r)
		begin += to.count
	}
	clear(r.arrived)
	clear(r.runs)
	r.arrived, r.runs, r.bytes = r.arrived[:0], r.runs[:0], 0
}

func (r *receiver) Undecodable(i int, err error) {
	of := &r.arrived[r.begin+i]
	p := extension.Payload{Type: of.Type, Data: of.Data}
	r.undecodable(wire.Envelope{Path: r.current.path, UID: r.current.uid, Payload: p}, err)
}
