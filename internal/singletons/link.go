// Package singletons connects the singletons of a node to its cluster. Package cluster attaches a
// system to it, and package singleton registers its managers with it.
package singletons

import (
	"context"
	"iter"
	"sync"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
)

// A Link is how managers and proxies of a node reach its hub. Any goroutine may use it.
type Link struct {
	hub actor.ActorRef[any]

	mu        sync.Mutex // guards all below
	directory *directory.Directory
	begun     map[string]bool // names of managers, some of which the hub does not know yet
	flushing  bool            // flushDue is in the mailbox of the hub

	entries sync.Map // *entry by the escaped name of a manager
}

// Attach connects the singletons of s to a cluster. topologies yields the present topology, and
// then the newest one after each change, until its context ends. Call Attach once, before the first
// singleton is spawned. Without it a singleton runs where it is spawned.
func Attach(s *actor.System, topologies func(ctx context.Context) iter.Seq[directory.Topology]) {
	l := &Link{directory: directory.New(), begun: map[string]bool{}}
	h := &hub{
		link: l, post: Post{System: s}, managers: map[string]actor.ActorRef[any]{}, listeners: map[string]func(){}, fresh: map[string]bool{},
		early: map[string][]wire.Message[wire.Request]{}, taken: map[string]uint64{},
	}
	l.hub = actor.Spawn(extension.Framework(s), func(ctx *actor.Context[any], next *actor.Next[any]) {
		h.ctx, h.log = ctx, ctx.Log()
		h.follow(topologies)
		next.OnMessage = h.receive
	}, hubName)
	extension.AddBypassed(s, entryTree, l)
	extension.Set(s, l)
}

// LinkOf returns the link of s; nil without a cluster.
func LinkOf(s *actor.System) *Link {
	l, _ := extension.Get[*Link](s)
	return l
}

// Register makes a manager known to the hub, and so to the cluster. The hub tells inbox [Viewed],
// [DrainAsked], and the messages of other nodes, apart from those that take the bypass of the
// manager.
func (l *Link) Register(advertisement string, manager actor.AnyRef, inbox actor.ActorRef[any]) {
	name := directory.AdvertisedName(advertisement)
	l.mu.Lock()
	l.begun[name] = true
	l.mu.Unlock()
	l.entries.Store(escape(name), &entry{manager: manager})
	l.hub.Tell(registered{advertisement: advertisement, inbox: inbox})
}

// Unregister says that a manager has ended. taken is the highest term that it has heard of or
// promised.
func (l *Link) Unregister(name string, taken uint64) {
	l.entries.Delete(escape(name))
	l.mu.Lock()
	delete(l.begun, name)
	l.mu.Unlock()
	l.hub.Tell(unregistered{name: name, taken: taken})
}

// Drained answers [DrainAsked]: the manager starts no instance any more, and none runs.
func (l *Link) Drained(name string) { l.hub.Tell(drained{name: name}) }

// Note changes the directory with f. The hub sends the change to the other nodes, together with
// those that wait.
func (l *Link) Note(f func(d *directory.Directory)) {
	l.mu.Lock()
	f(l.directory)
	flushes := !l.flushing
	l.flushing = true
	l.mu.Unlock()
	if flushes {
		l.hub.Tell(flushDue{})
	}
}

// flushed is called while mu is held.
func (l *Link) flushed(*directory.Directory) []wire.Any {
	l.flushing = false
	return nil
}

// read returns the result of f; the zero value without a cluster.
func read[T any](l *Link, f func(d *directory.Directory) T) (result T) {
	if l == nil {
		return result
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return f(l.directory)
}

// AllKnown returns what the node of s knows of every singleton that some member has a manager for,
// sorted by name; nil without a cluster. Its cost is proportional to singletons times members.
func AllKnown(s *actor.System) []directory.Known {
	return read(LinkOf(s), (*directory.Directory).All)
}

// ManagersOf returns the members that have a manager for the singleton of that name, in the order
// of election, as far as the node of s knows; nil without a cluster.
func ManagersOf(s *actor.System, name string) []remote.NodeID {
	return read(LinkOf(s), func(d *directory.Directory) []remote.NodeID { return d.Managers(name) })
}

// Drain waits until no instance runs on the node of s: each has been handed over, or has stopped
// because no other node can host it. No manager of s starts an instance under the node's present
// incarnation any more. The other members must know that this node is leaving or down, as otherwise
// none of them asks for the instances. Drain returns ctx.Err() when ctx ends first.
func Drain(ctx context.Context, s *actor.System) error {
	l := LinkOf(s)
	if l == nil {
		return nil
	}
	done := make(chan struct{})
	l.hub.Tell(drain{done: func() { close(done) }})
	select {
	case <-done:
		return nil
	case <-s.Terminated():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Follow implements [Takers].
func (l *Link) Follow(name string) Following { return following{l, name} }

type following struct {
	link *Link
	name string
}

func (f following) Takers() []remote.NodeID {
	return read(f.link, func(d *directory.Directory) []remote.NodeID { return d.Takers(f.name) })
}

func (f following) Leaves(id remote.NodeID) bool {
	return read(f.link, func(d *directory.Directory) bool { return d.Leaves(id) })
}

func (f following) Listen(changed func()) (cancel func()) {
	f.link.hub.Tell(listening{name: f.name, changed: changed})
	return func() { f.link.hub.Tell(listening{name: f.name}) }
}
