package actor

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// A Context gives a behavior access to its actor. As a context.Context it is done when the actor is
// told to stop or stops itself; its values and its deadline are those of its parent. Only
// handlers of the actor may call its other methods, except Self and System, and never from another
// goroutine. With the race detector, or the build tag understudy_debug, other calls
// panic.
type Context[M any] struct{ in inside }

// inside is a Context, whatever its type of messages. Package extension sees its exported methods.
type inside struct {
	cell *cell
	span *span // of the message; nil unless it is traced, and in the Context that belongs to the cell
}

func (c *Context[M]) internals() *inside { return &c.in }

// Deadline returns the deadline of the actor's parent, if that has one.
func (c *Context[M]) Deadline() (deadline time.Time, ok bool) { return c.in.life().Deadline() }

// Done returns a channel that is closed when the actor is told to stop or stops itself.
func (c *Context[M]) Done() <-chan struct{} { return c.in.life().Done() }

// Err returns nil until Done is closed, then the reason.
func (c *Context[M]) Err() error { return c.in.life().Err() }

// Value returns the value for key of the actor's parent. The Context that a handler gets with a
// traced message also has the span.
func (c *Context[M]) Value(key any) any { return c.in.within().Value(key) }

// An inner cell has the context of its outer cell.
func (x *inside) life() context.Context { return x.cell.core.actor().context() }

// Self returns the actor's own ref. It may be called from any goroutine.
func (c *Context[M]) Self() ActorRef[M] { return ActorRef[M]{&c.in.cell.core} }

// System returns the system in which the actor lives. It may be called from any goroutine.
func (c *Context[M]) System() *System { return c.in.cell.core.sys }

// Log returns the logger of the system, whose lines say which actor writes them: the fields "actor"
// and "kind" are its path, and its message type or what [WithKind] says. In the instance of a
// singleton, and in the actors that it spawns, "generation" is its generation. The lines of a
// cluster's node also have "node", the name of the node. A generation that rises is seen by loggers
// that were returned before. In the Context that a handler gets with a traced message, the lines
// also have "trace_id" and "span_id". The logger may be used by any goroutine. A line whose level
// is off costs nothing but the check of the level.
func (c *Context[M]) Log() *zap.Logger { return c.in.log() }

func (x *inside) log() *zap.Logger {
	x.cell.core.check("Log")
	if x.span != nil {
		return x.span.log(x.cell.logger(), x.cell.core.sys.tracer)
	}
	return x.cell.logger()
}

func (c *cell) logger() *zap.Logger {
	if c.log == nil {
		c.own().log = c.core.actor().lineLog()
	}
	return c.log
}

// Children returns the living children, oldest first.
func (c *Context[M]) Children() []AnyRef { return c.in.children() }

func (x *inside) children() (refs []AnyRef) {
	x.cell.core.check("Children")
	for _, child := range x.cell.core.actor().childList() {
		refs = append(refs, refOf(child))
	}
	return refs
}

// Child returns the living child with that name.
func (c *Context[M]) Child(name string) (child AnyRef, ok bool) { return c.in.child(name) }

func (x *inside) child(name string) (child AnyRef, ok bool) {
	x.cell.core.check("Child")
	if child := x.cell.core.actor().child(name); child != nil {
		return refOf(child), true
	}
	return nil, false
}

func refOf(c *core) AnyRef { return c.impl.(*cell).box.self() }

// Stop stops a child. The child finishes its current message; its waiting messages become dead
// letters. The child has ended when its [Terminated] arrives. Stop does nothing if the child has
// already ended. It panics if child is no child of the actor; to stop another actor, send it a
// message.
func (c *Context[M]) Stop(child AnyRef) { c.in.signalChild(child, sysStop) }

// Drain is like [Context.Stop], but the child first handles all messages that it has been sent so
// far.
func (c *Context[M]) Drain(child AnyRef) { c.in.signalChild(child, sysDrain) }

func (x *inside) signalChild(child AnyRef, kind systemKind) {
	x.cell.core.check("Stop or Drain")
	target := child.target().actor()
	if target == nil || target.parent != x.cell.core.actor() {
		panic(fmt.Sprintf("actor: %s cannot stop %q, which is not its child; tell it to stop by a message", x.cell.core.actor().path(), child.Path()))
	}
	target.node().signal(systemMsg{kind: kind})
}

// Fail returns a behavior that fails the actor with err; supervision decides what happens.
func (c *Context[M]) Fail(err error) Behavior[M] {
	return func(_ *Context[M], n *Next[M]) { n.Fail(err) }
}

// Defer registers f to run when the current incarnation ends (stop, restart, or failed start),
// after [PostStop] or [PreRestart], last in first out, before watchers are notified. Functions
// deferred outside a supervised behavior survive restarts inside it, because the code that deferred
// them does not run again. f may use the state of the behavior. It may block; the end of the actor
// waits for it.
func (c *Context[M]) Defer(f func()) { c.in.later(f) }

func (x *inside) later(f func()) {
	x.cell.core.check("Defer")
	x.cell.core.deferred().add(cleanup{depth: x.cell.core.outermost().depth(), run: f})
}

// After sends msg to the actor after d. It replaces a timer with the same key.
//
// A cancelled or replaced timer never delivers, even if its message was already waiting in the
// mailbox. Timers end with the incarnation: a restart cancels them, and one that is set while
// [PreRestart] or [PostStop] is handled never fires. So set them inside the behavior that
// behaviors.Supervise restarts: what is around it does not run again.
func (c *Context[M]) After(key string, d time.Duration, msg M) {
	c.in.setTimer(key, d, onceAfter, msg)
}

// Every sends msg to the actor repeatedly: first after d, then d after each one has been handled,
// so that they never accumulate. It replaces a timer with the same key, and panics unless d > 0.
func (c *Context[M]) Every(key string, d time.Duration, msg M) {
	c.in.setTimer(key, d, everyInterval, msg)
}

// AtFixedRate sends msg at a fixed rate of one per d, where [Context.Every] waits d after each one.
// If the actor falls behind, missed ones are delivered back to back until it has caught up; at most
// one waits in the mailbox. AtFixedRate panics unless d > 0.
func (c *Context[M]) AtFixedRate(key string, d time.Duration, msg M) {
	c.in.setTimer(key, d, atFixedRate, msg)
}

//go:noinline // into what is compiled for each type of messages
func (x *inside) setTimer(key string, d time.Duration, repeats repetition, msg any) {
	x.cell.core.check(repeats.String())
	if d <= 0 && repeats != onceAfter {
		panic(fmt.Sprintf("actor: timer %q: interval %v is not positive", key, d))
	}
	k := &keyedTimer{key: key, every: d, repeats: repeats, msg: msg, from: x.link()}
	if repeats == atFixedRate {
		k.due = time.Now().Add(d)
	}
	x.cell.own().timers.set(x.cell, d, k)
}

// CancelTimer cancels the timer with that key, if there is one.
func (c *Context[M]) CancelTimer(key string) {
	c.in.timers("CancelTimer").cancel(key)
}

// CancelTimers cancels all timers, but not the receive timeout.
func (c *Context[M]) CancelTimers() {
	c.in.timers("CancelTimers").cancelAll()
}

// TimerActive reports whether the timer with that key will still deliver a message.
func (c *Context[M]) TimerActive(key string) bool {
	_, active := c.in.timers("TimerActive").byKey[key]
	return active
}

// SetReceiveTimeout sends msg to the actor whenever it has received no message for d. Every message
// restarts d, including those of timers, adapters and PipeToSelf. Signals, and messages with a
// method KeepsReceiveTimeout(), do not restart it. SetReceiveTimeout panics unless d > 0.
func (c *Context[M]) SetReceiveTimeout(d time.Duration, msg M) { c.in.setReceiveTimeout(d, msg) }

func (x *inside) setReceiveTimeout(d time.Duration, msg any) {
	if d <= 0 {
		panic(fmt.Sprintf("actor: receive timeout %v is not positive", d))
	}
	x.cell.core.check("SetReceiveTimeout")
	x.cell.timers.cancelIdle()
	if !x.cell.core.ending() {
		x.cell.own().timers.idle = newReceiveTimeout(x.cell, d, msg)
	}
}

// CancelReceiveTimeout removes the receive timeout. Its message is dropped if it already waits in
// the mailbox.
func (c *Context[M]) CancelReceiveTimeout() {
	c.in.timers("CancelReceiveTimeout").cancelIdle()
}

func (x *inside) timers(what string) *timers {
	x.cell.core.check(what)
	return &x.cell.timers
}

func (c *Context[M]) spawnUnder() *core {
	c.in.cell.core.check("Spawn")
	return c.in.cell.core.actor()
}
