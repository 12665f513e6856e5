package deathwatch

import (
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/remote"
)

const (
	name = "watcher"
	path = "/system/" + name
)

// A Watcher watches actors of other nodes for a system, and actors of the system for other nodes.
// Its methods may be called by any goroutine and do not block.
type Watcher struct {
	system *actor.System
	self   func() remote.NodeID
	ref    actor.ActorRef[any]

	// All below belongs to the actor.
	outgoing *outgoing
	incoming *incoming
	requests map[uint64]*request
	stops    map[stopKey]func()
	ctx      *actor.Context[any]
}

type request struct {
	target  extension.Target
	ended   func()
	stopped atomic.Bool
	number  uint64 // belongs to the actor
}

type stopKey struct {
	from   remote.NodeID
	at     string
	number uint64
}

type task func(now time.Time)

// A task is of no use once the watcher has ended.
func (task) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// Start starts the watcher of a system. self returns the present identity of this node.
func Start(s *actor.System, self func() remote.NodeID) *Watcher {
	w := &Watcher{
		system: s, self: self,
		outgoing: newOutgoing(self()), incoming: newIncoming(self),
		requests: make(map[uint64]*request), stops: make(map[stopKey]func()),
	}
	w.ref = actor.Spawn(extension.Framework(s), func(ctx *actor.Context[any], next *actor.Next[any]) {
		w.ctx = ctx
		next.OnMessage = w.receive
	}, name)
	return w
}

// Watch calls ended once when the actor has ended or is known not to exist, unless unwatch has
// been called before.
func (w *Watcher) Watch(target extension.Target, ended func()) (unwatch func()) {
	r := &request{target: target, ended: ended}
	w.do(func(now time.Time) {
		r.number = w.outgoing.watch(target.Address, target.Path, target.UID, now)
		w.requests[r.number] = r
	})
	return func() {
		if !r.stopped.Swap(true) {
			w.do(func(time.Time) {
				w.outgoing.unwatch(target.Address, r.number)
				delete(w.requests, r.number)
			})
		}
	}
}

// Members sets the members of the cluster, as an incarnation of this node knows them.
func (w *Watcher) Members(as remote.NodeID, peers []remote.NodeID) {
	ask := extension.NextNumber(w.system)
	w.do(func(now time.Time) { w.view(true, as, peers, ask, now) })
}

// Met reports a handshake with an incarnation of a node.
func (w *Watcher) Met(p remote.NodeID) {
	ask := extension.NextNumber(w.system)
	w.do(func(time.Time) { w.outgoing.met(p, ask) })
}

// NotAMember reports that this node is in no cluster at present.
func (w *Watcher) NotAMember() {
	w.do(func(now time.Time) { w.view(false, remote.NodeID{}, nil, 0, now) })
}

func (w *Watcher) do(t task) { w.ref.Tell(t) }

func (w *Watcher) receive(_ *actor.Context[any], msg any) actor.Behavior[any] {
	now := time.Now()
	w.outgoing.self = w.self()
	switch msg := msg.(type) {
	case task:
		msg(now)
	case wireWatch:
		w.incoming.watch(msg, now)
	case wireUnwatch:
		w.incoming.unwatch(msg)
	case wireCheck:
		w.incoming.check(msg, now)
	case wireChecked:
		w.outgoing.checked(msg, now)
	case wireEnded:
		w.outgoing.ended(msg)
	}
	w.settle(now)
	return nil
}

func (w *Watcher) tick(now time.Time) {
	w.outgoing.tick(now)
	w.incoming.tick(now)
}

func (w *Watcher) view(known bool, as remote.NodeID, peers []remote.NodeID, ask uint64, now time.Time) {
	for _, p := range w.outgoing.view(known, as, peers, ask, now) {
		w.incoming.gone(p.NodeID)
		if w.outgoing.members.gone[p.Address] == p.Incarnation {
			extension.NodeGone(w.system, p.Address, func(uid uint64) bool { return node.HasActor(p.Incarnation, uid) })
		}
		extension.EndAsks(w.system, p.Address, p.mayHave)
	}
	w.outgoing.tick(now) // an address may have been silent for long enough
}

func (w *Watcher) settle(now time.Time) {
	for _, p := range w.outgoing.post {
		w.send(p.to, p.msg)
	}
	for _, number := range w.outgoing.over {
		r := w.requests[number]
		delete(w.requests, number)
		if !r.stopped.Swap(true) {
			r.ended()
		}
	}
	for _, address := range w.outgoing.back {
		extension.NodeBack(w.system, address)
	}
	w.outgoing.post, w.outgoing.over, w.outgoing.back = nil, nil, nil
	for _, p := range w.incoming.post {
		w.send(p.to, p.msg)
	}
	for _, x := range w.incoming.dropped {
		if stop := w.stops[x.key()]; stop != nil {
			stop()
			delete(w.stops, x.key())
		}
	}
	begun := w.incoming.begun
	w.incoming.post, w.incoming.dropped, w.incoming.begun = nil, nil, nil
	for _, x := range begun {
		w.host(x)
	}
	w.wake(now)
}

// The goroutine in which the actor ends reports the end: after everything the actor has sent, and
// also while the system shuts down.
func (w *Watcher) host(x incomingID) {
	w.stops[x.key()] = extension.OnEnd(w.system, x.target.Path, x.target.UID, func() {
		w.send(x.from.Address, wireEnded{To: x.from, At: x.at, Numbers: []uint64{x.target.Number}})
		w.do(func(time.Time) {
			delete(w.stops, x.key())
			w.incoming.ended(x)
		})
	})
}

func (x incomingID) key() stopKey { return stopKey{x.from, x.at, x.target.Number} }

func (w *Watcher) send(address string, msg any) {
	actor.Resolve[any](w.system, "understudy://"+w.system.Name()+"@"+address+path).Tell(msg)
}

func (w *Watcher) wake(now time.Time) {
	at := w.outgoing.next()
	if due := w.incoming.next(); at.IsZero() || !due.IsZero() && due.Before(at) {
		at = due
	}
	if at.IsZero() {
		w.ctx.CancelTimer(name)
		return
	}
	w.ctx.After(name, max(at.Sub(now), 0), task(w.tick))
}
