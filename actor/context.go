package actor

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// A Context is what a behavior knows of its actor and may do with it. As a
// context.Context it is done when the actor is told to stop or decides to; its values
// are those of the parent's context and of [WithContext]. Its other methods may be
// called by the actor's own handlers only, never from another goroutine.
type Context[M any] struct {
	context.Context
	cell *cell[M]
	log  *zap.Logger
}

// Self returns the actor's own ref.
func (c *Context[M]) Self() ActorRef[M] { return ActorRef[M]{&c.cell.core} }

// System returns the system the actor lives in.
func (c *Context[M]) System() *System { return c.cell.sys }

// Log returns a logger with the actor's path in the field "actor".
func (c *Context[M]) Log() *zap.Logger {
	if c.log == nil {
		c.log = c.cell.sys.log.With(zap.String("actor", c.cell.actor().path()))
	}
	return c.log
}

// Children returns the living children, oldest first.
func (c *Context[M]) Children() []AnyRef {
	var refs []AnyRef
	for _, child := range c.cell.actor().childList() {
		refs = append(refs, child.impl.(interface{ ref() AnyRef }).ref()) // children are cells
	}
	return refs
}

// Stop stops a child, which has ended when its [Terminated] arrives: it finishes the
// message it is at; those that wait become dead letters. A child that has ended is fine.
// It panics when ref is not a child: stop others by a message.
func (c *Context[M]) Stop(child AnyRef) { c.signalChild(child, sysStop) }

// Drain stops a child like [Context.Stop], but after it has handled all that it has been
// told so far.
func (c *Context[M]) Drain(child AnyRef) { c.signalChild(child, sysDrain) }

func (c *Context[M]) signalChild(child AnyRef, kind systemKind) {
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
	c.cell.addCleanup(cleanup{depth: c.cell.depth(), run: f})
}

// After tells the actor msg after d. A timer of the same key is replaced.
//
// A timer that was cancelled or replaced never delivers, even when it had fired
// already and its message was waiting. Timers end with the incarnation: a restart
// cancels them, and one that is set in [PreRestart] or [PostStop] never fires.
func (c *Context[M]) After(key string, d time.Duration, msg M) {
	c.cell.own().timers.set(c.cell, key, d, false, msg)
}

// Every tells the actor msg again and again: d after now, and d after each has been
// handled. So they never pile up. A timer of the same key is replaced. It panics
// unless d is positive.
func (c *Context[M]) Every(key string, d time.Duration, msg M) {
	if d <= 0 {
		panic(fmt.Sprintf("actor: timer %q: interval %v is not positive", key, d))
	}
	c.cell.own().timers.set(c.cell, key, d, true, msg)
}

// CancelTimer cancels the timer of key; when there is none, nothing happens.
func (c *Context[M]) CancelTimer(key string) { c.cell.timers.cancel(key) }

// SetReceiveTimeout tells the actor msg whenever it has been told nothing for d. Each
// message begins d anew, timers, adapters and piped results included; signals do not.
// It panics unless d is positive.
func (c *Context[M]) SetReceiveTimeout(d time.Duration, msg M) {
	if d <= 0 {
		panic(fmt.Sprintf("actor: receive timeout %v is not positive", d))
	}
	c.CancelReceiveTimeout()
	if !c.cell.ending() {
		c.cell.own().idle = newReceiveTimeout(c.cell, d, msg)
	}
}

// CancelReceiveTimeout ends the receive timeout; one that has fired is not delivered.
func (c *Context[M]) CancelReceiveTimeout() {
	if c.cell.idle != nil {
		c.cell.idle.timer.Stop()
		c.cell.idle = nil
	}
}

func (c *Context[M]) spawnUnder() *core { return c.cell.actor() }
