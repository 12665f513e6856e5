package actor

import (
	"fmt"
	"reflect"
)

// A watchEntry is what a cell wants to be told of the end of another.
type watchEntry[M any] struct {
	ref    AnyRef
	msg    M
	custom bool // tell msg instead of the signal
}

// Watch asks for [Terminated], or [ChildFailed] for a child, when the actor behind ref
// has ended; at once when it has ended already. Watching twice is watching once. The
// signal must be handled, else the actor fails with [DeathPactError]. A restart of the
// watcher ends its watches, a restart of the watched actor does not.
//
// It panics when ref is being watched by [Context.WatchWith], when it is the zero
// ActorRef, and for actors on other nodes, which cannot be watched yet.
func (c *Context[M]) Watch(ref AnyRef) { c.cell.watch(watchEntry[M]{ref: ref}) }

// WatchWith is like [Context.Watch], but tells the actor msg instead of a signal. To
// change the message, unwatch first; else it panics.
func (c *Context[M]) WatchWith(ref AnyRef, msg M) {
	c.cell.watch(watchEntry[M]{ref: ref, msg: msg, custom: true})
}

// Unwatch ends a watch. Nothing is told any more, even when the actor has ended already
// and the signal was waiting.
func (c *Context[M]) Unwatch(ref AnyRef) { c.cell.endWatch(ref.target().actor()) }

func (c *cell[M]) watch(entry watchEntry[M]) {
	target := entry.ref.target().actor()
	if target == nil {
		panic("actor: cannot watch the zero ActorRef")
	}
	if _, remote := target.impl.(*remoteActor); remote {
		panic(fmt.Sprintf("actor: cannot watch %s: actors on other nodes cannot be watched yet", entry.ref.Path()))
	}
	if old, ok := c.watched[target]; ok {
		if old.custom != entry.custom || !reflect.DeepEqual(old.msg, entry.msg) {
			panic(fmt.Sprintf("actor: %s is watched in another way; unwatch it first", entry.ref.Path()))
		}
		return
	}
	if c.watched == nil {
		c.watched = make(map[*core]watchEntry[M])
	}
	c.watched[target] = entry
	epoch := c.epoch
	tell := func(target *core, err error) {
		c.enqueue(item[M]{task: &endOfWatched[M]{target, err, epoch}}, Unbounded())
	}
	if !target.addWatcher(watcher{who: &c.core, tell: tell}) {
		tell(target, nil)
	}
}

func (c *cell[M]) endWatch(target *core) {
	if _, ok := c.watched[target]; ok {
		delete(c.watched, target)
		target.removeWatcher(&c.core)
	}
}

func (c *cell[M]) unwatchAll() {
	for target := range c.watched {
		c.endWatch(target)
	}
}

// endOfWatched waits in the mailbox behind all that the watched actor has told.
type endOfWatched[M any] struct {
	target *core
	err    error
	epoch  uint64
}

func (e *endOfWatched[M]) run(c *cell[M]) (Behavior[M], any) {
	entry, ok := c.watched[e.target]
	if !ok || e.epoch != c.epoch {
		return nil, nil
	}
	delete(c.watched, e.target)
	if entry.custom {
		return c.handleTask(entry.msg)
	}
	var sig Signal = Terminated{Ref: entry.ref}
	if e.err != nil && e.target.parent == &c.core {
		sig = ChildFailed{Ref: entry.ref, Err: e.err}
	}
	return c.tellSignal(sig), sig
}

func (e *endOfWatched[M]) undelivered() (any, bool) { return nil, false }
