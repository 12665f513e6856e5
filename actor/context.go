package actor

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// A Context is what a behavior knows of its actor and may do with it. As a
// context.Context it is done when the actor is told to stop or decides to; its values
// are those of the parent's context and of [WithContext]. Its other methods, but for Self
// and System, may be called by the actor's own handlers only, never from another
// goroutine: with the race detector, or the build tag understudy_debug, that panics.
type Context[M any] struct {
	cell *cell[M] // and nothing else, as each cell has a Context
}

// Deadline returns that of [WithContext], the parent's or its own, if any.
func (c *Context[M]) Deadline() (deadline time.Time, ok bool) { return c.life().Deadline() }

// Done returns a channel that is closed when the actor is told to stop, or decides to.
func (c *Context[M]) Done() <-chan struct{} { return c.life().Done() }

// Err returns nil until Done is closed, then why.
func (c *Context[M]) Err() error { return c.life().Err() }

// Value returns what [WithContext], or else the context of the parent, has for key.
func (c *Context[M]) Value(key any) any { return c.life().Value(key) }

// life returns the context itself, which is the host's for a guest.
func (c *Context[M]) life() context.Context { return (*lifeContext)(c.cell.actor()) }

// Self returns the actor's own ref.
func (c *Context[M]) Self() ActorRef[M] { return ActorRef[M]{&c.cell.core} }

// System returns the system the actor lives in.
func (c *Context[M]) System() *System { return c.cell.sys }

// Log returns a logger with the actor's path in the field "actor".
func (c *Context[M]) Log() *zap.Logger {
	c.cell.check("Log")
	if c.cell.log == nil {
		c.cell.own().log = c.cell.sys.log.With(zap.String("actor", c.cell.actor().path()))
	}
	return c.cell.log
}

// Children returns the living children, oldest first.
func (c *Context[M]) Children() []AnyRef {
	c.cell.check("Children")
	var refs []AnyRef
	for _, child := range c.cell.actor().childList() {
		refs = append(refs, refOf(child))
	}
	return refs
}

// Child returns the living child of that name.
func (c *Context[M]) Child(name string) (child AnyRef, ok bool) {
	c.cell.check("Child")
	if child := c.cell.actor().child(name); child != nil {
		return refOf(child), true
	}
	return nil, false
}

// refOf returns the ref of an actor of this node, which is a cell.
func refOf(c *core) AnyRef {
	return c.impl.(interface{ ref() AnyRef }).ref()
}

// Stop stops a child, which has ended when its [Terminated] arrives: it finishes the
// message it is at; those that wait become dead letters. A child that has ended is fine.
// It panics when ref is not a child: stop others by a message.
func (c *Context[M]) Stop(child AnyRef) { c.signalChild(child, sysStop) }

// Drain stops a child like [Context.Stop], but after it has handled all that it has been
// told so far.
func (c *Context[M]) Drain(child AnyRef) { c.signalChild(child, sysDrain) }

func (c *Context[M]) signalChild(child AnyRef, kind systemKind) {
	c.cell.check("Stop or Drain")
	target := child.target().actor()
	if target == nil || target.parent != c.cell.actor() {
		panic(fmt.Sprintf("actor: %s cannot stop %q, which is not its child; tell it to stop by a message", c.cell.actor().path(), child.Path()))
	}
	target.node().signal(systemMsg{kind: kind})
}

// Fail returns the behavior that fails the actor with err; supervision decides.
func (c *Context[M]) Fail(err error) Behavior[M] {
	return func(_ *Context[M], n *Next[M]) { n.Fail(err) }
}

// Defer runs f when what the actor is now comes to its end, by stop, restart or a failed
// start: after [PostStop] or [PreRestart], the last deferred first, before watchers
// know. What was deferred outside a supervised behavior outlives the restarts inside,
// as the code that deferred it is not run again. f may use what the behavior uses; it
// may block, and the actor's end waits.
func (c *Context[M]) Defer(f func()) {
	c.cell.check("Defer")
	c.cell.addCleanup(cleanup{depth: c.cell.depth(), run: f})
}

// After tells the actor msg after d. A timer of the same key is replaced.
//
// A timer that was cancelled or replaced never delivers, even when it had fired
// already and its message was waiting. Timers end with the incarnation: a restart
// cancels them, and one that is set in [PreRestart] or [PostStop] never fires.
func (c *Context[M]) After(key string, d time.Duration, msg M) {
	c.cell.check("After")
	c.cell.own().timers.set(c.cell, d, &keyedTimer[M]{key: key, msg: msg})
}

// Every tells the actor msg again and again: d after now, and d after each has been
// handled. So they never pile up. A timer of the same key is replaced. It panics
// unless d is positive.
func (c *Context[M]) Every(key string, d time.Duration, msg M) {
	c.repeat("Every", d, &keyedTimer[M]{key: key, msg: msg, every: d})
}

// AtFixedRate is [Context.Every], but that each is due d after the one before was, however
// long that took to be handled: when the actor is late, those that are due come one after
// the other until it has caught up. No more than one of them waits in the mailbox.
func (c *Context[M]) AtFixedRate(key string, d time.Duration, msg M) {
	c.repeat("AtFixedRate", d, &keyedTimer[M]{key: key, msg: msg, every: d, due: time.Now().Add(d)})
}

func (c *Context[M]) repeat(what string, d time.Duration, k *keyedTimer[M]) {
	c.cell.check(what)
	if d <= 0 {
		panic(fmt.Sprintf("actor: timer %q: interval %v is not positive", k.key, d))
	}
	c.cell.own().timers.set(c.cell, d, k)
}

// CancelTimer cancels the timer of key; when there is none, nothing happens.
func (c *Context[M]) CancelTimer(key string) {
	c.cell.check("CancelTimer")
	c.cell.timers.cancel(key)
}

// CancelTimers cancels all timers, but not the receive timeout.
func (c *Context[M]) CancelTimers() {
	c.cell.check("CancelTimers")
	c.cell.timers.cancelAll()
}

// TimerActive reports whether the timer of key is yet to tell something.
func (c *Context[M]) TimerActive(key string) bool {
	c.cell.check("TimerActive")
	_, active := c.cell.timers.byKey[key]
	return active
}

// SetReceiveTimeout tells the actor msg whenever it has been told nothing for d. Each
// message begins d anew, timers, adapters and piped results included; signals do not, and
// neither does a message that has a method KeepsReceiveTimeout(), whatever that does. It
// panics unless d is positive.
func (c *Context[M]) SetReceiveTimeout(d time.Duration, msg M) {
	if d <= 0 {
		panic(fmt.Sprintf("actor: receive timeout %v is not positive", d))
	}
	c.cell.check("SetReceiveTimeout")
	c.cell.cancelReceiveTimeout()
	if !c.cell.ending() {
		c.cell.own().idle = newReceiveTimeout(c.cell, d, msg)
	}
}

// CancelReceiveTimeout ends the receive timeout; one that has fired is not delivered.
func (c *Context[M]) CancelReceiveTimeout() {
	c.cell.check("CancelReceiveTimeout")
	c.cell.cancelReceiveTimeout()
}

func (c *Context[M]) spawnUnder() *core {
	c.cell.check("Spawn")
	return c.cell.actor()
}
