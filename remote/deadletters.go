package remote

import (
	"bytes"
	"math"
	"strconv"
	"sync"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/remote/internal/outbox"
	"github.com/understudy-go/understudy/remote/internal/wire"
)

// deadLetter makes a dead letter of a queued frame. Its message is decoded again, because the
// sender may have changed the original.
func (e *Endpoint) deadLetter(x outbox.Frame, reason error) {
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

// fullPath returns the path of an actor of s in the form of [actor.ActorRef.String].
func fullPath(s *actor.System, e wire.Envelope) string {
	path := "understudy://" + s.Name() + "@" + s.Address() + e.Path
	if e.UID == 0 {
		return path
	}
	return path + "#" + strconv.FormatUint(e.UID, 10)
}

// logType logs a problem with a message type. The first time it is a warning, which says what to
// do.
func (e *Endpoint) logType(name, problem string, err error) {
	level := zap.DebugLevel
	if e.types.first(name) {
		level = zap.WarnLevel
	}
	e.log.WithOptions(zap.AddCallerSkip(1)).Log(level, problem, zap.String("type", name), zap.Error(err))
}

// A seenSet reports what it sees for the first time.
type seenSet struct {
	mu   sync.Mutex // guards seen
	seen map[string]bool
}

// maxSeen bounds the memory of a seenSet, because names come from the network. A full set reports
// nothing as first.
const maxSeen = 1000

func (f *seenSet) first(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen[name] || len(f.seen) == maxSeen {
		return false
	}
	f.seen[name] = true
	return true
}
