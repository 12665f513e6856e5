package actor

import (
	"fmt"
	"reflect"
	"slices"
)

type watch struct {
	by     *cell
	ref    AnyRef
	msg    any
	custom bool   // tell msg instead of the signal
	stop   func() // of an actor on another node; else nil
}

// Watch requests [Terminated], or [ChildFailed] for a child, when the actor behind ref has ended;
// immediately if it has ended already. Watching an actor twice has the effect of watching it once.
// The signal must be handled, otherwise the actor fails with [ErrDeathPact]. A restart of the
// watcher ends its watches; a restart of the watched actor does not.
//
// An actor on another node has also ended when its node has left the cluster or was removed from
// it, or another process runs at its address; a node that is merely unreachable ends nothing. See
// package remote. A ref without a number watches whichever actor lives at its path when the other
// node receives the watch. The signal is [Terminated] in all cases.
//
// Watch panics if the actor is already watched by [Context.WatchWith], if ref is the zero ActorRef,
// and for an actor on another node if the system has no transport that can watch it.
func (c *Context[M]) Watch(ref AnyRef) { c.in.watch("Watch", watch{ref: ref}) }

// WatchWith is like [Context.Watch], but sends msg to the actor instead of a signal. To change the
// message, unwatch first; otherwise it panics.
func (c *Context[M]) WatchWith(ref AnyRef, msg M) {
	c.in.watch("WatchWith", watch{ref: ref, msg: msg, custom: true})
}

func (x *inside) watch(what string, w watch) {
	x.cell.core.check(what)
	w.by = x.cell
	x.cell.own().watched.add(&w)
}

// Unwatch ends a watch. Nothing is delivered any more, even if the actor has ended already and the
// signal is waiting in the mailbox.
func (c *Context[M]) Unwatch(ref AnyRef) { c.in.unwatch(ref) }

func (x *inside) unwatch(ref AnyRef) {
	x.cell.core.check("Unwatch")
	x.cell.watched.end(ref.target().actor())
	x.cell.watched.endOf(ref)
}

type watches map[*core]*watch

func (m *watches) add(w *watch) {
	target := w.ref.target().actor()
	if target == nil {
		panic("actor: cannot watch the zero ActorRef")
	}
	if old, ok := (*m)[target]; ok {
		if old.custom != w.custom || !reflect.DeepEqual(old.msg, w.msg) {
			panic(fmt.Sprintf("actor: %s is watched in another way; unwatch it first", w.ref.Path()))
		}
		return
	}
	if *m == nil {
		*m = make(watches)
	}
	switch far, remote := target.impl.(*remoteActor); {
	case isRouted(target):
		panic(fmt.Sprintf("actor: cannot watch %s: that is whichever actor handles the next message; ask it for its own ref", w.ref.Path()))
	case remote:
		w.stop = far.watch(func() { w.watchedEnded(target, nil) })
	case !target.addWatcher(w):
		w.watchedEnded(target, target.cause())
	}
	(*m)[target] = w
}

func (m watches) end(target *core) {
	if w, ok := m[target]; ok {
		delete(m, target)
		w.end(target)
	}
}

// A ref may lead to another actor than when the watches began.
func (m watches) endOf(ref AnyRef) {
	if n := ref.target(); n == nil || !n.isUnresolved() {
		return
	}
	for target, w := range m {
		if w.ref == ref {
			m.end(target)
		}
	}
}

func (w *watch) end(target *core) {
	if w.stop != nil {
		w.stop()
		return
	}
	target.removeWatcher(w)
}

func (m watches) endAll() {
	for target := range m {
		m.end(target)
	}
}

func (w *watch) watchedEnded(target *core, err error) {
	w.by.post(item{task: &endOfWatched{watch: w, target: target, err: err}}, entrance{})
}

// An endOfWatched waits behind all messages that the watched actor has sent. It has no effect if
// the watch has ended meanwhile.
type endOfWatched struct {
	trailing
	watch  *watch
	target *core
	err    error
}

func (e *endOfWatched) run(c *cell) {
	if c.watched[e.target] != e.watch {
		return
	}
	delete(c.watched, e.target)
	ref := e.watch.ref
	switch {
	case e.watch.custom:
		c.handleTaskMessage(e.watch.msg)
	case e.err != nil && e.target.parent == c.core.actor():
		c.handleSignal(ChildFailed{Ref: ref, Err: e.err}, fmt.Errorf("%w: %s failed: %w", ErrDeathPact, ref.Path(), e.err))
	default:
		c.handleSignal(Terminated{Ref: ref}, fmt.Errorf("%w: %s", ErrDeathPact, ref.Path()))
	}
}

// A watcher must be comparable, and watches an actor at most once.
type watcher interface {
	watchedEnded(target *core, err error) // must not block
}

// watchers are in the order in which they came. Adding and removing takes constant time.
type watchers struct {
	list []watcher       // nil entries have been removed
	at   map[watcher]int // index in list; nil while that is short
	gone int
}

const fewWatchers = 8

func (w *watchers) add(one watcher) {
	w.list = append(w.list, one)
	switch {
	case w.at != nil:
		w.at[one] = len(w.list) - 1
	case len(w.list) > fewWatchers:
		w.index()
	}
}

func (w *watchers) index() {
	w.at = make(map[watcher]int, len(w.list))
	for i, one := range w.list {
		w.at[one] = i
	}
}

func (w *watchers) remove(one watcher) {
	if w.at == nil {
		if i := slices.Index(w.list, one); i >= 0 {
			w.list = slices.Delete(w.list, i, i+1)
		}
		return
	}
	i, found := w.at[one]
	if !found {
		return
	}
	w.list[i] = nil
	delete(w.at, one)
	if w.gone++; 2*w.gone > len(w.list) {
		w.pack()
	}
}

func (w *watchers) pack() {
	*w = watchers{list: w.all()}
	if len(w.list) > fewWatchers {
		w.index()
	}
}

func (w *watchers) all() []watcher {
	if len(w.list) == w.gone {
		return nil
	}
	all := make([]watcher, 0, len(w.list)-w.gone)
	for _, one := range w.list {
		if one != nil {
			all = append(all, one)
		}
	}
	return all
}

func (c *core) tellWatchers() {
	all, cause := c.takeWatchers()
	if c.flags.has(exported) { // which is not set any more
		c.sys.exports.remove(c.uid)
	}
	for _, w := range all {
		w.watchedEnded(c, cause)
	}
}
