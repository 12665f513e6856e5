package placement

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/internal/fifo"
)

// maxHeld is how many messages a ref holds while its actor does not run.
const maxHeld = 1000

// Why messages to a ref of [Type.Ref] become dead letters. Compare with [errors.Is].
var (
	// ErrNotRunning: the node ended while no actor of the label ran.
	ErrNotRunning = errors.New("placement: no actor of that label runs")

	// ErrBufferFull: no actor of the label runs, and more than 1000 messages wait for one. The
	// oldest give way.
	ErrBufferFull = fmt.Errorf("%w, and the buffer is full", ErrNotRunning)
)

// Ref returns a ref by which the actor of a label is told, on whichever node it runs, as
// long as s lives: it follows the actor to other nodes, and holds up to 1000 messages
// while none runs that this node knows of, the oldest of which give way as dead letters with
// [ErrBufferFull]. So a label may be used before it has been submitted. Messages of one sender
// stay in order. What was told to an actor that ends before it has handled it is lost, as
// with any actor; who must know asks.
//
// Its path is that of a forwarding actor of this node, which does not end with the actor of
// the label, as whoever has the ref may keep it: each label costs about 2 KB on each node that
// has asked for it, for as long as s lives. To watch the actor of the label, find it by a
// message.
//
// It panics when actors of the label take other messages on this node. Where one on another
// node does, messages are dead letters with [actor.ErrWrongType].
func (t Type[S, M]) Ref(s *actor.System, label string) actor.ActorRef[M] {
	return refTo[M](s, label)
}

// refs are the forwarding actors of a system, by label.
type refs struct {
	mu      sync.Mutex // guards byLabel
	byLabel map[string]any
}

func refTo[M any](s *actor.System, label string) actor.ActorRef[M] {
	key := keyOf[M](label)
	receptionist.Find(s, key) // panics here rather than in the actor
	all := extension.Ensure(s, func() *refs { return &refs{byLabel: map[string]any{}} })
	all.mu.Lock()
	defer all.mu.Unlock()
	known, exists := all.byLabel[label]
	if ref, ok := known.(actor.ActorRef[M]); ok {
		return ref
	}
	if exists {
		panic(fmt.Sprintf("placement: %q is used with %T on this node, and cannot take %v too; give it another label", label, known, reflect.TypeFor[M]()))
	}
	ref := actor.Spawn(extension.Framework(s), forward(key), "placement-ref:"+escape(label))
	all.byLabel[label] = ref
	return ref
}

// forward passes messages on to the instance of a service, of which there is one.
func forward[M any](key receptionist.ServiceKey[M]) actor.Behavior[M] {
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		f := &forwarder[M]{ctx: ctx}
		f.take(receptionist.Find(ctx.System(), key))
		ctx.Defer(receptionist.Subscribe(ctx.System(), key, actor.Handle(ctx, func(l receptionist.Listing[M]) actor.Behavior[M] {
			f.take(l)
			return nil
		})))
		ctx.Defer(f.close)
		next.OnMessage = func(_ *actor.Context[M], msg M) actor.Behavior[M] {
			f.told(msg)
			return nil
		}
	}
}

type forwarder[M any] struct {
	ctx   *actor.Context[M]
	to    actor.ActorRef[M]          // zero: none
	known map[actor.ActorRef[M]]bool // the last listing
	wrong error                      // there is none, but one that takes other messages
	held  fifo.Queue[extension.Held[M]]
}

// take follows the listing. When one actor of the label has taken the place of another,
// both may be listed for a moment: the one that has come last counts.
func (f *forwarder[M]) take(l receptionist.Listing[M]) {
	known, best := map[actor.ActorRef[M]]bool{}, receptionist.Instance[M]{}
	for i, each := range l.Instances {
		known[each.Ref] = true
		if i == 0 || f.prefers(each, best) {
			best = each
		}
	}
	f.to, f.known, f.wrong = best.Ref, known, nil
	if len(known) == 0 {
		f.wrong = l.Err
	}
	f.flush()
}

func (f *forwarder[M]) prefers(a, b receptionist.Instance[M]) bool {
	if a.Reachable != b.Reachable {
		return a.Reachable
	}
	if f.known[a.Ref] != f.known[b.Ref] {
		return !f.known[a.Ref]
	}
	return a.Ref == f.to
}

// flush sends what waits, if it can go.
func (f *forwarder[M]) flush() {
	switch {
	case f.wrong != nil:
		f.giveUp(f.wrong)
	case f.to != actor.ActorRef[M]{}:
		for f.held.Len() > 0 {
			f.pass(f.held.Pop())
		}
	}
}

// pass sends a message on, unless it is the request of an ask that has ended.
func (f *forwarder[M]) pass(h extension.Held[M]) {
	if h.Pass() {
		f.to.TellNoWait(h.Message)
	} else {
		f.deadLetter(h.Message, actor.ErrWithdrawn)
	}
}

func (f *forwarder[M]) told(msg M) {
	if f.held.Len() == 0 && f.wrong == nil && f.to != (actor.ActorRef[M]{}) {
		f.to.TellNoWait(msg)
		return
	}
	f.held.Push(extension.Hold(f.ctx.System(), msg))
	f.flush()
	if f.held.Len() > maxHeld {
		f.makeRoom()
	}
}

// makeRoom drops the requests of asks that have ended, or else the oldest message.
func (f *forwarder[M]) makeRoom() {
	ended := f.held.Remove(func(h extension.Held[M]) bool { return h.Withdrawn() })
	for _, h := range ended {
		f.deadLetter(h.Message, actor.ErrWithdrawn)
	}
	if len(ended) == 0 {
		f.deadLetter(f.held.Pop().Message, ErrBufferFull)
	}
}

func (f *forwarder[M]) close() { f.giveUp(ErrNotRunning) }

func (f *forwarder[M]) giveUp(why error) {
	for f.held.Len() > 0 {
		f.deadLetter(f.held.Pop().Message, why)
	}
}

func (f *forwarder[M]) deadLetter(msg M, why error) {
	extension.DeadLetter(f.ctx.System(), f.ctx.Self().Path(), msg, why)
}
