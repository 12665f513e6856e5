package behaviors

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/singleton"
)

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

// Discoverable continues with b and registers the actor as an instance of a service, which other
// actors find by key; see package receptionist. It is registered from its start until it ends,
// restarts included. Discoverable panics inside the actor if this node uses the same service with
// another message type.
func Discoverable[M any](key receptionist.ServiceKey[M], b actor.Behavior[M]) actor.Behavior[M] {
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		receptionist.Register(ctx.System(), key, ctx.Self())
		b(ctx, next)
	}
}

// Singleton returns a behavior of which one instance runs in the whole cluster, made by factory.
// Spawn it on every node under the same name; the refs of all nodes lead to the instance. See
// package singleton.
func Singleton[M any](factory func() actor.Behavior[M], opts ...singleton.Option) actor.Behavior[M] {
	return singleton.New(factory, opts...)
}

// WithStash calls f with a stash for up to capacity messages that cannot be handled yet, and
// continues with the behavior that f returns. [actor.Stash.UnstashAll] returns the messages.
//
// The stash belongs to the behaviors that f returns. Outside [Supervise] it survives the restarts
// inside. Inside, a restart makes its messages dead letters and calls f again, with an empty stash.
// WithStash panics inside the actor unless capacity > 0.
func WithStash[M any](capacity int, f func(stash *actor.Stash[M]) actor.Behavior[M]) actor.Behavior[M] {
	return Setup(func(ctx *actor.Context[M]) actor.Behavior[M] { return f(actor.NewStash(ctx, capacity)) })
}

// Transform returns the behavior of an actor that takes messages of type Outer, converts each with
// f, and handles it with b. A message for which f returns false is unhandled. f runs inside the
// actor; a panic in it is a failure of the actor.
//
// b has a context of its own: its timers, adapters, watches and messages to itself are of type
// Inner, and pass neither through f nor through the wrappers around Transform. Children,
// supervision and the end are those of the actor. [Supervise] works inside and outside. Timers of
// type Outer, set around Transform, pass through f. Transform panics if b or f is nil.
func Transform[Outer, Inner any](b actor.Behavior[Inner], f func(Outer) (Inner, bool)) actor.Behavior[Outer] {
	needBehavior("Transform", b)
	if f == nil {
		panic("behaviors: Transform needs a function")
	}
	return actor.Transform(b, f)
}

// EventSourced returns the behavior of an actor whose state is rebuilt from the events stored under
// id in j. onCommand handles a message and returns the effect. The effect has the events to
// persist, and what to do once they are durable. onEvent applies one event to the state; it must be
// pure.
//
// EventSourced panics on invalid arguments, see [persistence.New]. Package persistence has the
// manual.
func EventSourced[M, E, S any](id string, j persistence.Journal, initial S,
	onEvent func(state S, event E) S,
	onCommand func(ctx *actor.Context[M], state S, msg M) persistence.Effect[E],
	opts ...persistence.Option,
) actor.Behavior[M] {
	return persistence.New(id, j, initial, onEvent, onCommand, opts...)
}

// DurableState returns the behavior of an actor whose latest state is stored under id in j. Unlike
// [EventSourced] it does not store the events that led to the state. onCommand handles a message
// and returns the effect: the new state to store, and what to do once it is durable. DurableState
// panics on invalid arguments, see [persistence.NewDurableState].
func DurableState[M, S any](id string, j persistence.Journal, initial S,
	onCommand func(ctx *actor.Context[M], state persistence.State[S], msg M) persistence.StateEffect[S],
	opts ...persistence.StateOptions[M, S],
) actor.Behavior[M] {
	return persistence.NewDurableState(id, j, initial, onCommand, opts...)
}
