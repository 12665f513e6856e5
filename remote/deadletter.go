package remote

import (
	"bytes"
	"math"
	"strconv"
	"sync"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// deadLetter makes a dead letter of one that was queued. Its message is a copy of what
// was sent, as the sender may have changed that since.
func (e *Endpoint) deadLetter(x letter, reason error) {
	if x.sys == nil {
		return
	}
	extension.DeadLetter(x.sys, x.to, x.message(), reason)
}

// message decodes the message again, or returns its payload where that is impossible.
func (x *letter) message() any {
	env, err := newEnvelopeReader(math.MaxInt).read(x.envelope()[frameHeader:])
	if err != nil {
		return clonePayload(env.payload)
	}
	msg, err := extension.Unpack(x.sys, env.payload)
	if err != nil {
		return clonePayload(env.payload)
	}
	return msg
}

func clonePayload(p extension.Payload) extension.Payload {
	p.Data = bytes.Clone(p.Data)
	return p
}

// fullPath returns the path of an actor of s in the form of [actor.ActorRef.String].
func fullPath(s *actor.System, e envelope) string {
	path := "understudy://" + s.Name() + "@" + s.Address() + e.path
	if e.uid == 0 {
		return path
	}
	return path + "#" + strconv.FormatUint(e.uid, 10)
}

// logType logs a problem with a type of message: loudly the first time, as it says what
// to do.
func (e *Endpoint) logType(name, problem string, err error) {
	level := zap.DebugLevel
	if e.types.first(name) {
		level = zap.WarnLevel
	}
	e.log.WithOptions(zap.AddCallerSkip(1)).Log(level, problem, zap.String("type", name), zap.Error(err))
}

// firsts tells what comes for the first time.
type firsts struct {
	mu   sync.Mutex // guards seen
	seen map[string]bool
}

// maxFirsts bounds the memory of firsts, as names come from the network. What comes when
// it is full is not a first.
const maxFirsts = 1000

func (f *firsts) first(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen[name] || len(f.seen) == maxFirsts {
		return false
	}
	f.seen[name] = true
	return true
}
