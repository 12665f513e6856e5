package actor

import (
	"github.com/understudy-go/understudy/internal/actorhook"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"go.uber.org/zap"
)

// Resolve returns the ref of the actor at a full path, as [ActorRef.Path] or
// [ActorRef.String] print it, on this node or another. It does not look whether anybody
// lives there: what is told to nobody becomes dead letters, and an actor that is spawned
// at the path later gets what is told then, unless the path ends in an actor's number. A
// ref that was resolved before its actor was spawned is not equal to the actor's own.
// A malformed path, or one that no actor can have, is nobody's, like the zero ActorRef, with
// the reason in the log.
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
		return s.remotes.get(s, l)
	}
	if c := s.lookup(l.path); c.is(l.uid) {
		return c
	}
	if c := s.elsewhere(l); c != nil {
		return c
	}
	return newNobody(s, l)
}

// elsewhere returns an actor of another system of this process, of the same name and without
// an address either: a message that is encoded within the process must not lose a ref to it.
func (s *System) elsewhere(l location) (found *core) {
	if s.encoding == nil || l.address != "" || l.uid == 0 {
		return nil
	}
	systems.Range(func(other, _ any) bool {
		if o := other.(*System); o != s && o.name == l.system && o.address == "" { // only systems are stored
			if c := o.lookup(l.path); c.is(l.uid) {
				found = c
			}
		}
		return found == nil
	})
	return found
}

// is says whether c exists, and is the one meant by uid.
func (c *core) is(uid uint64) bool { return c != nil && (uid == 0 || c.uid == uid) }

// nobody is where no actor was found. It looks again for each message.
type nobody struct{ core }

func newNobody(s *System, l location) *core {
	n := &nobody{core: core{sys: s, label: l.path, uid: l.uid, dead: true, over: true}}
	n.impl = n
	return &n.core
}

// wanders reports whether c may stand for one actor now and for another later.
func (c *core) wanders() bool {
	_, looksAgain := c.impl.(*nobody)
	return looksAgain
}

// successor returns the core of the actor that lives there now, or that of n.
func (n *nobody) successor() *core {
	if c := n.sys.lookup(n.label); c.is(n.uid) {
		return c.actor()
	}
	return &n.core
}

func (n *nobody) deliver(msg any, by entrance) { n.sys.deliver(n.label, n.uid, msg, by) }

// A remoteActor is an actor on another node.
type remoteActor struct {
	core
	sendTo actorhook.Target
}

// isRemote reports whether c stands for an actor on another node.
func (c *core) isRemote() bool {
	_, remote := c.impl.(*remoteActor)
	return remote
}

func (r *remoteActor) deliver(msg any, _ entrance) {
	if r.sys.transport == nil {
		r.sys.reportDeadLetter(r.sendTo.Full, msg, ErrUnreachable)
		return
	}
	r.sys.sent.Add(1)
	r.sys.transport.Send(r.sys, r.sendTo, msg)
}

// remotes makes refs to the same actor on another node equal: each has one core, as
// long as anybody holds it. Most are those of asks, and gone soon.
type remotes struct {
	gone atomic.Pointer[map[string]func(uid uint64) bool] // by address, see System.NodeGone; nil for none

	mu    sync.Mutex // guards all below; held to change gone
	cores map[location]weak.Pointer[remoteActor]
	sweep int // how many cores there are when those that are gone are looked for
}

// setGone says which actors of an address are gone; nil is none.
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

// minSweep is for a few cores, which nobody needs to look through.
const minSweep = 1000

func (r *remotes) get(s *System, l location) *core {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.cores[l].Value(); a != nil {
		return &a.core
	}
	a := &remoteActor{core: core{sys: s, label: l.path, uid: l.uid}}
	a.impl = a
	a.sendTo = actorhook.Target{Address: l.address, Path: l.path, UID: l.uid, Full: formatPath(l.system, l.address, l.path)}
	r.forget()
	r.cores[l] = weak.Make(a)
	return &a.core
}

// forget drops the entries of cores that are gone, when there are twice as many entries as
// there were cores the last time. The caller holds mu.
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
