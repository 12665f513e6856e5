package singleton

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// MaxGivenUp is how many messages that were given up a node keeps, of all its singletons together.
// One more takes the place of the oldest.
const MaxGivenUp = 1000

// A GivenUp is a message at which instances have failed too often, see [Attempts]. The node
// where it was sent keeps it in memory, until it is sent again or discarded, or the manager of that
// node ends.
type GivenUp struct {
	Number    uint64 // of the message among those that this node has kept, the first is 1
	Singleton string
	Message   any
	Reason    error // wraps [ErrGivenUp] and the last failure
	Time      time.Time
}

// ListGivenUp returns the messages that were sent in s, that were given up and that are kept there,
// the oldest first. Other nodes keep those that were sent on them. The member through
// which a client sent a message keeps it.
func ListGivenUp(s *actor.System) []GivenUp {
	r, ok := extension.Get[*registry](s)
	if !ok {
		return nil
	}
	var all []GivenUp
	for _, k := range r.givenUp.list() {
		all = append(all, k.GivenUp)
	}
	return all
}

// Resend sends a message that was given up to its singleton again, after those that wait, and as
// often as any other message. It is not kept any more, unless it is given up again under another
// number. If it was the request of an ask, that has ended, and its reply becomes a dead letter.
// Resend returns an [ErrNotKept] if s keeps no message with the number.
func Resend(s *actor.System, number uint64) error {
	k, err := takeGivenUp(s, number)
	if err == nil {
		k.manager.Tell(sentAgain{to: k.Singleton, msg: k.Message})
	}
	return err
}

// Discard removes a message that was given up. It returns an [ErrNotKept] if s keeps no message
// with the number.
func Discard(s *actor.System, number uint64) error {
	_, err := takeGivenUp(s, number)
	return err
}

func takeGivenUp(s *actor.System, number uint64) (k keptMessage, err error) {
	r, ok := extension.Get[*registry](s)
	if ok {
		k, ok = r.givenUp.take(number)
	}
	if !ok {
		return k, fmt.Errorf("%w: %d", ErrNotKept, number)
	}
	return k, nil
}

type sentAgain struct {
	to  string
	msg any
}

// Carried implements what [extension.DeadLetter] asks: the manager has ended meanwhile.
func (a sentAgain) Carried(*actor.System) (to string, msg any, carries bool) {
	return actorhook.ToSingleton + a.to, a.msg, true
}

// refused notes that a message sent here became a dead letter on the node of the instance. It keeps
// the message if instances have failed at it.
func (m *manager) refused(msg any, reason error) {
	m.publish(Refused{Name: m.name, Message: msg, Reason: reason})
	if !guard.Is(reason, ErrGivenUp) {
		return
	}
	m.status.GivenUp++
	number, over := m.registry.givenUp.add(keptMessage{
		GivenUp: GivenUp{Singleton: m.name, Message: msg, Reason: reason, Time: time.Now()}, manager: m.inbox,
	})
	m.ctx.Log().Warn("message given up and put aside", zap.Uint64("number", number), zap.String("type", fmt.Sprintf("%T", msg)), zap.Error(reason))
	if over > 0 {
		m.ctx.Log().Warn("too many messages given up; the oldest is kept no longer", zap.Uint64("number", over))
	}
}

func (m *manager) sendAgain(a sentAgain) { m.take(handover.Told{Message: a.msg}) }

func (m *manager) forgetGivenUp() {
	if n := m.registry.givenUp.forget(m.name); n > 0 {
		m.ctx.Log().Warn("messages that were given up are lost with the manager of this node", zap.Int("messages", n))
	}
}

type givenUpMessages struct {
	mu   sync.Mutex // guards last and kept
	last uint64
	kept []keptMessage // in the order of their numbers
}

type keptMessage struct {
	GivenUp
	manager actor.ActorRef[any]
}

// add keeps a message. It returns its number, and the number of the one that gave way, or 0.
func (g *givenUpMessages) add(k keptMessage) (number, over uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.kept) == MaxGivenUp {
		over = g.kept[0].Number
		g.kept = slices.Delete(g.kept, 0, 1)
	}
	g.last++
	k.Number = g.last
	g.kept = append(g.kept, k)
	return k.Number, over
}

func (g *givenUpMessages) list() []keptMessage {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.kept)
}

func (g *givenUpMessages) take(number uint64) (k keptMessage, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.kept, func(k keptMessage) bool { return k.Number == number })
	if i < 0 {
		return k, false
	}
	k = g.kept[i]
	g.kept = slices.Delete(g.kept, i, i+1)
	return k, true
}

func (g *givenUpMessages) forget(singleton string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := len(g.kept)
	g.kept = slices.DeleteFunc(g.kept, func(k keptMessage) bool { return k.Singleton == singleton })
	return before - len(g.kept)
}

func (g *givenUpMessages) counts() map[string]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	counts := make(map[string]int)
	for _, k := range g.kept {
		counts[k.Singleton]++
	}
	return counts
}
