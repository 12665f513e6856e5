package actor

import (
	"maps"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/understudy-go/understudy/internal/actorhook"

	"go.uber.org/zap"
)

// Resolve returns the ref of the actor at a full path, as [ActorRef.Path] or [ActorRef.String]
// print it, on this node or another. It does not check whether the actor exists: messages to a path
// without an actor are dead letters, and an actor that is spawned there later receives later
// messages, unless the path ends in a number. A ref that was resolved before its actor was spawned
// is not equal to the actor's own ref. For a malformed path, which is logged, Resolve returns a ref
// that addresses no actor.
func Resolve[M any](s *System, path string) ActorRef[M] {
	return ActorRef[M]{s.resolve(path)}
}

func (s *System) resolve(path string) *core {
	l, err := parsePath(path)
	if err != nil {
		s.log.Warn("malformed path", zap.Error(err))
		return newUnbound(strings.ToValidUTF8(path, "\uFFFD")) // which can be sent to others
	}
	if l.address != "" && l.address != s.address {
		return s.remotes.resolve(s, l, path)
	}
	if c := s.lookup(l.path, l.uid); c.is(l.uid) {
		return c
	}
	if c := s.elsewhere(l); c != nil {
		return c
	}
	return newEmptyRef(s, l)
}

// The other system has the same name and no address either: a message that is encoded within the
// process must not lose refs to it.
func (s *System) elsewhere(l location) (found *core) {
	if s.encoding == nil || l.address != "" || l.uid == 0 {
		return nil
	}
	systems.Range(func(other, _ any) bool {
		if o := other.(*System); o != s && o.name == l.system && o.address == "" { // only systems are stored
			if c := o.lookup(l.path, l.uid); c.is(l.uid) {
				found = c
			}
		}
		return found == nil
	})
	return found
}

// Any number is right if uid is 0.
func (c *core) is(uid uint64) bool { return c != nil && (uid == 0 || c.uid == uid) }

// An emptyRef stands for a path at which no actor was found. It looks again for each message.
type emptyRef struct{ core }

func newEmptyRef(s *System, l location) *core {
	n := &emptyRef{core: core{sys: s, label: l.path, uid: l.uid, guarded: guarded{dead: true, over: true}}}
	n.impl = n
	return &n.core
}

// isUnresolved reports whether c may stand for different actors over time.
func (c *core) isUnresolved() bool {
	_, looksAgain := c.impl.(*emptyRef)
	return looksAgain
}

func (n *emptyRef) successor() *core {
	if c := n.sys.lookup(n.label, n.uid); c.is(n.uid) {
		return c.actor()
	}
	return &n.core
}

func (n *emptyRef) deliver(msg any, by entrance) { n.sys.deliver(n.label, n.uid, msg, by) }

type remoteActor struct {
	core
	sendTo  actorhook.Target
	mayWait bool // it is an actor of users
}

func (c *core) isRemote() bool {
	_, remote := c.impl.(*remoteActor)
	return remote
}

// A patientTransport slows senders down while a peer takes messages more slowly than they are sent.
type patientTransport interface {
	SendWaiting(p actorhook.Patience, s *System, target actorhook.Target, msg any)
}

// The message enters the queue for another node.
func (r *remoteActor) patience(by entrance) actorhook.Patience {
	p := actorhook.Patience{Hurried: r.sys.shutdown.sendLimitOver, Within: by.within}
	if by.ctx != nil {
		p.Done = by.ctx.Done()
	}
	return p
}

// A message for an actor of users may wait there for room, as in a blocking mailbox. Actors of the
// framework, and replies, never wait for a slow node.
func (r *remoteActor) deliver(msg any, by entrance) {
	if r.sys.transport == nil {
		r.sys.reportDeadLetter(r.sendTo.Full, msg, ErrUnreachable)
		return
	}
	if asked := by.metadata.Request(); asked != nil && !asked.TakeAway() { // it may be handled from now on
		r.sys.reportDeadLetter(r.sendTo.Full, msg, ErrWithdrawn)
		return
	}
	if !by.metadata.IsEmpty() {
		r.deliverWith(msg, by)
		return
	}
	r.sys.sent.Add(1)
	if r.mayWait && !by.parked && r.sys.patient != nil {
		r.sys.patient.SendWaiting(r.patience(by), r.sys, r.sendTo, msg)
		return
	}
	r.sys.transport.Send(r.sys, r.sendTo, msg)
}

// remotes makes refs to the same remote actor equal: they share one core, as long as one of them
// exists. Refs to asks are left out: most refs are to asks, and get one message each.
type remotes struct {
	gone atomic.Pointer[map[string]func(uid uint64) bool] // by address, see extension.NodeGone; nil for none

	mu    sync.Mutex // held to change gone, too
	cores map[location]weak.Pointer[remoteActor]
	sweep int // of cores, at which collected ones are dropped
}

// nil means none.
func (r *remotes) setGone(address string, of func(uid uint64) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gone := map[string]func(uint64) bool{}
	if before := r.gone.Load(); before != nil {
		maps.Copy(gone, *before)
	}
	gone[address] = of
	if of == nil {
		delete(gone, address)
	}
	r.gone.Store(&gone)
}

func (r *remotes) isGone(t actorhook.Target) bool {
	gone := r.gone.Load()
	if gone == nil {
		return false
	}
	of := (*gone)[t.Address]
	return of != nil && of(t.UID)
}

// With fewer cores the collected ones are not looked for.
const minSweep = 1000

func (r *remotes) resolve(s *System, l location, path string) *core {
	if kind, _, outside := outsideTree(l.path); outside && kind == askPath {
		return &newRemoteActor(s, l, path).core
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return &r.get(l, func() *remoteActor { return newRemoteActor(s, l, strings.Clone(path)) }).core
}

func (r *remotes) shared(a *remoteActor) *remoteActor {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, err := parsePath(a.fullString())
	if err != nil {
		return a
	}
	return r.get(l, func() *remoteActor { return a })
}

// mu is held.
func (r *remotes) get(l location, made func() *remoteActor) *remoteActor {
	if a := r.cores[l].Value(); a != nil {
		return a
	}
	a := made()
	r.forget()
	r.cores[l] = weak.Make(a)
	return a
}

func newRemoteActor(s *System, l location, path string) *remoteActor {
	full, _, _ := strings.Cut(path, "#")
	a := &remoteActor{core: core{sys: s, label: l.path, uid: l.uid}}
	a.impl = a
	a.sendTo = actorhook.Target{Address: l.address, Path: l.path, UID: l.uid, Full: full}
	a.mayWait = strings.HasPrefix(l.path, "/user/")
	if kind, number, outside := outsideTree(l.path); outside {
		if uid, err := strconv.ParseUint(number, 10, 64); err == nil {
			a.sendTo.Path, a.sendTo.UID = kind, uid
		}
	}
	return a
}

// forget does nothing until there are twice as many entries as cores remained the last time. mu is
// held.
func (r *remotes) forget() {
	if r.cores == nil {
		r.cores = make(map[location]weak.Pointer[remoteActor])
	}
	if len(r.cores) < max(r.sweep, minSweep) {
		return
	}
	maps.DeleteFunc(r.cores, func(_ location, a weak.Pointer[remoteActor]) bool { return a.Value() == nil })
	r.sweep = 2 * len(r.cores)
}
