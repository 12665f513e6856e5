package deathwatch

import (
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/node"
)

const (
	name = "watcher"
	path = "/system/" + name
)

// A Watcher watches actors of other nodes for a system, and actors of the system for other
// nodes. Its methods may be called by any goroutine, and do not block.
type Watcher struct {
	system *actor.System
	self   func() node.ID
	ref    actor.ActorRef[any]

	// All below belongs to the actor.
	watching *watching
	hosting  *hosting
	requests map[uint64]*request
	stops    map[stopKey]func()
	ctx      *actor.Context[any]
}

// A request is a watch of this node.
type request struct {
	target  extension.Target
	ended   func()
	stopped atomic.Bool
	number  uint64 // belongs to the actor
}

// A stopKey names a watch of another node.
type stopKey struct {
	from   node.ID
	at     string
	number uint64
}

// What the actor is told by its own node.
type (
	begin  struct{ *request }
	stop   struct{ *request }
	viewed struct {
		known bool
		as    node.ID
		peers []node.ID
	}
	met       struct{ node.ID }
	endedHere struct{ hosted }
	ticked    struct{}
)

// Carried is for [actor.System.DeadLetter]: it is of no use to anybody once the watcher has ended.
func (endedHere) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// Carried is for [actor.System.DeadLetter].
func (begin) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// Carried is for [actor.System.DeadLetter].
func (stop) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// Carried is for [actor.System.DeadLetter].
func (met) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// Carried is for [actor.System.DeadLetter].
func (viewed) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// Start starts the watcher of a system. self says under which name the others know this
// node at present.
func Start(s *actor.System, self func() node.ID) *Watcher {
	w := &Watcher{
		system: s, self: self,
		watching: newWatching(self()), hosting: newHosting(self),
		requests: make(map[uint64]*request), stops: make(map[stopKey]func()),
	}
	w.ref = actor.Spawn(extension.Framework(s), func(ctx *actor.Context[any], next *actor.Next[any]) {
		w.ctx = ctx
		next.OnMessage = w.receive
	}, name)
	return w
}

// Watch calls ended, once, when the actor has ended, or is known not to live. When stop has
// been called before, it is not called.
func (w *Watcher) Watch(target extension.Target, ended func()) (unwatch func()) {
	r := &request{target: target, ended: ended}
	w.ref.Tell(begin{r})
	return func() {
		if !r.stopped.Swap(true) {
			w.ref.Tell(stop{r})
		}
	}
}

// Members tells who the members of the cluster are, as an incarnation of this node knows it.
func (w *Watcher) Members(as node.ID, peers []node.ID) { w.ref.Tell(viewed{true, as, peers}) }

// Met tells that an incarnation of a node has shaken hands with this one.
func (w *Watcher) Met(p node.ID) { w.ref.Tell(met{p}) }

// NotAMember tells that this node is in no cluster at present.
func (w *Watcher) NotAMember() { w.ref.Tell(viewed{}) }

func (w *Watcher) receive(_ *actor.Context[any], msg any) actor.Behavior[any] {
	now := time.Now()
	w.watching.self = w.self()
	switch msg := msg.(type) {
	case begin:
		w.begin(msg.request, now)
	case stop:
		w.watching.unwatch(msg.target.Address, msg.number)
		delete(w.requests, msg.number)
	case viewed:
		w.view(msg, now)
	case met:
		w.watching.met(msg.ID)
	case endedHere:
		delete(w.stops, msg.key())
		w.hosting.ended(msg.hosted)
	case ticked:
		w.watching.tick(now)
		w.hosting.tick(now)
	case wireWatch:
		w.hosting.watch(msg, now)
	case wireUnwatch:
		w.hosting.unwatch(msg)
	case wireCheck:
		w.hosting.check(msg, now)
	case wireChecked:
		w.watching.checked(msg, now)
	case wireEnded:
		w.watching.ended(msg)
	}
	w.settle(now)
	return nil
}

func (w *Watcher) begin(r *request, now time.Time) {
	r.number = w.watching.watch(r.target.Address, r.target.Path, r.target.UID, now)
	w.requests[r.number] = r
}

// view passes on who is a member, and ends the asks of those that are none any more.
func (w *Watcher) view(msg viewed, now time.Time) {
	for _, p := range w.watching.view(msg.known, msg.as, msg.peers, now) {
		w.hosting.gone(p)
		if w.watching.members.gone[p.Address] == p.Incarnation {
			extension.NodeGone(w.system, p.Address, func(uid uint64) bool { return node.HasActor(p.Incarnation, uid) })
		}
		extension.EndAsks(w.system, p.Address, func(uid uint64) bool { return mayHave(p, uid) })
	}
	w.watching.tick(now) // an address may have been silent for long enough
}

// settle does what the cores have decided, and wakes the watcher when that may change.
func (w *Watcher) settle(now time.Time) {
	for _, p := range w.watching.post {
		w.send(p.to, p.msg)
	}
	for _, number := range w.watching.over {
		r := w.requests[number]
		delete(w.requests, number)
		if !r.stopped.Swap(true) {
			r.ended()
		}
	}
	for _, address := range w.watching.back {
		extension.NodeBack(w.system, address)
	}
	w.watching.post, w.watching.over, w.watching.back = nil, nil, nil
	for _, p := range w.hosting.post {
		w.send(p.to, p.msg)
	}
	for _, x := range w.hosting.dropped {
		if stop := w.stops[x.key()]; stop != nil {
			stop()
			delete(w.stops, x.key())
		}
	}
	begun := w.hosting.begun
	w.hosting.post, w.hosting.dropped, w.hosting.begun = nil, nil, nil
	for _, x := range begun {
		w.host(x)
	}
	w.wake(now)
}

// host watches an actor of this node. Its end is told by the goroutine in which it ends:
// after all that it has told, and also while the system shuts down.
func (w *Watcher) host(x hosted) {
	w.stops[x.key()] = extension.OnEnd(w.system, x.target.Path, x.target.UID, func() {
		w.send(x.from.Address, wireEnded{To: x.from, At: x.at, Numbers: []uint64{x.target.Number}})
		w.ref.Tell(endedHere{x})
	})
}

func (x hosted) key() stopKey { return stopKey{x.from, x.at, x.target.Number} }

func (w *Watcher) send(address string, msg any) {
	actor.Resolve[any](w.system, "understudy://"+w.system.Name()+"@"+address+path).Tell(msg)
}

func (w *Watcher) wake(now time.Time) {
	at := w.watching.next()
	if due := w.hosting.next(); at.IsZero() || !due.IsZero() && due.Before(at) {
		at = due
	}
	if at.IsZero() {
		w.ctx.CancelTimer(name)
		return
	}
	w.ctx.After(name, max(at.Sub(now), 0), ticked{})
}
