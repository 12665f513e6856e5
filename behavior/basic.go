package behaviors

import "github.com/understudy-go/understudy/actor"

// Same keeps the behavior. It cannot be a first behavior.
func Same[M any](*actor.Context[M], *actor.Next[M]) {}

// Stopped ends the actor: its children first, then PostStop to the behavior it has now.
func Stopped[M any](_ *actor.Context[M], next *actor.Next[M]) { next.Stop() }

// Unhandled keeps the behavior and says that the message or signal was not meant for it:
// a message is published as [actor.UnhandledMessage], and the end of a watched actor
// fails this one. It cannot be a first behavior.
func Unhandled[M any](_ *actor.Context[M], next *actor.Next[M]) { next.Unhandled() }

// Ignore consumes every message in silence.
func Ignore[M any](_ *actor.Context[M], next *actor.Next[M]) {
	next.OnMessage = func(*actor.Context[M], M) actor.Behavior[M] { return nil }
	next.OnSignal = defaultSignals
}

// Empty takes every message as unhandled.
func Empty[M any](_ *actor.Context[M], next *actor.Next[M]) {
	next.OnMessage = func(*actor.Context[M], M) actor.Behavior[M] { return Unhandled }
	next.OnSignal = defaultSignals
}

// Receive handles each message with h, which returns the behavior for the next one. Add
// OnSignal for signals; without it, the end of a watched actor is unhandled.
func Receive[M any](h func(*actor.Context[M], M) actor.Behavior[M]) actor.Behavior[M] {
	return func(_ *actor.Context[M], next *actor.Next[M]) {
		next.OnMessage = h
		next.OnSignal = defaultSignals
	}
}

// Setup calls f when the actor starts, and again at every restart, inside the actor, and
// goes on as what f returns, which must not be Same or Unhandled when it is the first
// behavior.
func Setup[M any](f func(*actor.Context[M]) actor.Behavior[M]) actor.Behavior[M] {
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		if b := f(ctx); b != nil {
			b(ctx, next)
		}
	}
}

// Supervise goes on as b does, under strategy s: see [actor.Strategy]. It panics, inside
// the actor, on a strategy that makes no sense.
func Supervise[M any](b actor.Behavior[M], s actor.Strategy) actor.Behavior[M] {
	return func(_ *actor.Context[M], next *actor.Next[M]) { next.Supervise(b, s) }
}

// defaultSignals leaves the end of a watched actor and the failure of an adapter unhandled
// and ignores the rest.
func defaultSignals[M any](_ *actor.Context[M], sig actor.Signal) actor.Behavior[M] {
	switch sig.(type) {
	case actor.Terminated, actor.ChildFailed, actor.AdaptFailed:
		return Unhandled
	case actor.PostStop, actor.PreRestart:
	}
	return nil
}
