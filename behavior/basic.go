package behaviors

import "github.com/understudy-go/understudy/actor"

// Same keeps the behavior. It cannot be a first behavior. In a function that has type
// parameters of its own, Go allocates it; nil is the same and is not.
func Same[M any](*actor.Context[M], *actor.Next[M]) {}

// Stopped ends the actor: its children first, then PostStop to the behavior it has now.
func Stopped[M any](_ *actor.Context[M], next *actor.Next[M]) { next.Stop() }

// StoppedThen ends the actor like [Stopped], and calls f inside it then: after its behavior
// has had PostStop, before what was given to Defer. It panics without f.
func StoppedThen[M any](f func()) actor.Behavior[M] {
	if f == nil {
		panic("behaviors: StoppedThen needs a function")
	}
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		ctx.Defer(f)
		next.Stop()
	}
}

// Unhandled keeps the behavior and says that the message or signal was not meant for it:
// a message is published as [actor.UnhandledMessage], and the end of a watched actor
// fails this one. It cannot be a first behavior.
func Unhandled[M any](_ *actor.Context[M], next *actor.Next[M]) { next.Unhandled() }

// Ignore consumes every message and every signal in silence: the end of a watched actor
// does not fail this one, and neither does an adapter.
func Ignore[M any](_ *actor.Context[M], next *actor.Next[M]) { next.Ignore() }

// Empty takes every message as unhandled.
func Empty[M any](_ *actor.Context[M], next *actor.Next[M]) {
	next.Receive(func(*actor.Context[M], M) actor.Behavior[M] { return Unhandled })
}

// Receive handles each message with h, which returns the behavior for the next one. Add
// OnSignal for signals; without it, the end of a watched actor is unhandled. It panics
// without h.
func Receive[M any](h func(*actor.Context[M], M) actor.Behavior[M]) actor.Behavior[M] {
	if h == nil {
		panic("behaviors: Receive needs a function")
	}
	return func(_ *actor.Context[M], next *actor.Next[M]) { next.Receive(h) }
}

// Setup calls f when the actor starts, and again at every restart, inside the actor, and
// goes on as what f returns, which must not be Same or Unhandled when it is the first
// behavior. It panics without f.
func Setup[M any](f func(*actor.Context[M]) actor.Behavior[M]) actor.Behavior[M] {
	if f == nil {
		panic("behaviors: Setup needs a function")
	}
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		if b := f(ctx); b != nil {
			b(ctx, next)
		}
	}
}

// needBehavior panics without b, where the mistake is, rather than in the actor.
func needBehavior[M any](what string, b actor.Behavior[M]) {
	if b == nil {
		panic("behaviors: " + what + " needs a behavior")
	}
}

// Supervise goes on as b does, under strategy s: see [actor.Strategy]. It panics without b,
// and, inside the actor, on a strategy that makes no sense.
func Supervise[M any](b actor.Behavior[M], s actor.Strategy) actor.Behavior[M] {
	needBehavior("Supervise", b)
	return func(_ *actor.Context[M], next *actor.Next[M]) { next.Supervise(b, s) }
}
