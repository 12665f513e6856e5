package actor

import (
	"fmt"
	"reflect"
)

// A watch is what an actor wants to be told of the end of another.
type watch[M any] struct {
	by     *cell[M]
	ref    AnyRef
	msg    M
	custom bool   // tell msg instead of the signal
	stop   func() // of an actor on another node; else nil
}

// Watch asks for [Terminated], or [ChildFailed] for a child, when the actor behind ref
// has ended; at once when it has ended already. Watching twice is watching once. The
// signal must be handled, else the actor fails with [ErrDeathPact]. A restart of the
// watcher ends its watches, a restart of the watched actor does not.
//
// An actor on another node has ended, too, when its node has: when that has left the cluster
// or has been removed from it, or another process lives at its address. A node that merely
// cannot be reached ends nothing. Package remote has the details. A ref without a number is
// watched for whoever lives at its path when the other node hears of the watch. The signal
// is [Terminated], whatever the actor ended by.
//
// It panics when ref is being watched by [Context.WatchWith], when it is the zero
// ActorRef, and for actors on other nodes when the system has no transport that can watch
// them.
func (c *Context[M]) Watch(ref AnyRef) {
	c.cell.check("Watch")
	c.cell.watch(&watch[M]{by: c.cell, ref: ref})
}

// WatchWith is like [Context.Watch], but tells the actor msg instead of a signal. To
// change the message, unwatch first; else it panics.
func (c *Context[M]) WatchWith(ref AnyRef, msg M) {
	c.cell.check("WatchWith")
	c.cell.watch(&watch[M]{by: c.cell, ref: ref, msg: msg, custom: true})
}

// Unwatch ends a watch. Nothing is told any more, even when the actor has ended already
// and the signal was waiting.
func (c *Context[M]) Unwatch(ref AnyRef) {
	c.cell.check("Unwatch")
	c.cell.endWatch(ref.target().actor())
	c.cell.endWatchesOf(ref)
}

func (c *cell[M]) watch(w *watch[M]) {
	target := w.ref.target().actor()
	if target == nil {
		panic("actor: cannot watch the zero ActorRef")
	}
	if old, ok := c.watched[target]; ok {
		if old.custom != w.custom || !reflect.DeepEqual(old.msg, w.msg) {
			panic(fmt.Sprintf("actor: %s is watched in another way; unwatch it first", w.ref.Path()))
		}
		return
	}
	if c.watched == nil {
		c.own().watched = make(map[*core]*watch[M])
	}
	switch far, remote := target.impl.(*remoteActor); {
	case remote:
		w.stop = far.watch(func() { w.watchedEnded(target, nil) })
	case !target.addWatcher(w):
		w.watchedEnded(target, target.cause())
	}
	c.watched[target] = w
}

func (c *cell[M]) endWatch(target *core) {
	if w, ok := c.watched[target]; ok {
		delete(c.watched, target)
		w.end(target)
	}
}

// endWatchesOf ends those that began with ref where it led to another actor then than it
// leads to now.
func (c *cell[M]) endWatchesOf(ref AnyRef) {
	if n := ref.target(); n == nil || !n.wanders() {
		return
	}
	for target, w := range c.watched {
		if w.ref == ref {
			c.endWatch(target)
		}
	}
}

func (w *watch[M]) end(target *core) {
	if w.stop != nil {
		w.stop()
		return
	}
	target.removeWatcher(w)
}

func (c *cell[M]) unwatchAll() {
	for target := range c.watched {
		c.endWatch(target)
	}
}

func (w *watch[M]) watchedEnded(target *core, err error) {
	w.by.post(item[M]{task: &endOfWatched[M]{w, target, err}}, entrance{})
}

// endOfWatched waits in the mailbox behind all that the watched actor has told. It
// counts only if the watch has not ended meanwhile.
type endOfWatched[M any] struct {
	watch  *watch[M]
	target *core
	err    error
}

func (e *endOfWatched[M]) run(c *cell[M]) {
	if c.watched[e.target] != e.watch {
		return
	}
	delete(c.watched, e.target)
	ref := e.watch.ref
	switch {
	case e.watch.custom:
		c.handleTaskMessage(e.watch.msg)
	case e.err != nil && e.target.parent == c.actor():
		c.handleSignal(ChildFailed{Ref: ref, Err: e.err}, fmt.Errorf("%w: %s failed: %w", ErrDeathPact, ref.Path(), e.err))
	default:
		c.handleSignal(Terminated{Ref: ref}, fmt.Errorf("%w: %s", ErrDeathPact, ref.Path()))
	}
}

func (e *endOfWatched[M]) exempt() bool { return true }

func (e *endOfWatched[M]) follows() bool { return true }

func (e *endOfWatched[M]) undelivered() (any, bool) { return nil, false }
