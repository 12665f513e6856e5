package behaviors

import "github.com/understudy-go/understudy/actor"

// Same keeps the behavior. It cannot be a first behavior. In a function with type parameters Go
// allocates it; nil has the same meaning and is not allocated.
func Same[M any](*actor.Context[M], *actor.Next[M]) {}

// Stopped ends the actor: first its children, then PostStop goes to the current behavior.
func Stopped[M any](_ *actor.Context[M], next *actor.Next[M]) { next.Stop() }

// StoppedThen ends the actor like [Stopped], and calls f inside it: after PostStop, before the
// functions given to Defer. It panics if f is nil.
func StoppedThen[M any](f func()) actor.Behavior[M] {
	if f == nil {
		panic("behaviors: StoppedThen needs a function")
	}
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		ctx.Defer(f)
		next.Stop()
	}
}

// Unhandled keeps the behavior and declares the message or signal unhandled: a message is published
// as [actor.UnhandledMessage], and the end of a watched actor fails this one. It cannot be a first
// behavior.
func Unhandled[M any](_ *actor.Context[M], next *actor.Next[M]) { next.Unhandled() }

// Ignore ignores all messages and signals. The end of a watched actor and the failure of an adapter
// do not fail this actor.
func Ignore[M any](_ *actor.Context[M], next *actor.Next[M]) { next.Ignore() }

// Empty leaves every message unhandled.
func Empty[M any](_ *actor.Context[M], next *actor.Next[M]) {
	next.Receive(func(*actor.Context[M], M) actor.Behavior[M] { return Unhandled })
}

// Receive handles each message with h, which returns the behavior for the next one. Add OnSignal to
// handle signals; without it, the end of a watched actor is unhandled. It panics if h is nil.
func Receive[M any](h func(*actor.Context[M], M) actor.Behavior[M]) actor.Behavior[M] {
	if h == nil {
		panic("behaviors: Receive needs a function")
	}
	return func(_ *actor.Context[M], next *actor.Next[M]) { next.Receive(h) }
}

// Setup calls f inside the actor when it starts, and again at every restart, and continues with the
// behavior that f returns. As a first behavior that must not be Same or Unhandled. Setup panics if
// f is nil.
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

// needBehavior panics at the place of the mistake rather than inside the actor.
func needBehavior[M any](what string, b actor.Behavior[M]) {
	if b == nil {
		panic("behaviors: " + what + " needs a behavior")
	}
}

// Supervise continues with b, whose failures strategy s decides about, see [actor.Strategy]. It
// panics if b is nil, and, inside the actor, if the strategy is invalid.
func Supervise[M any](b actor.Behavior[M], s actor.Strategy) actor.Behavior[M] {
	needBehavior("Supervise", b)
	return func(_ *actor.Context[M], next *actor.Next[M]) { next.Supervise(b, s) }
}
