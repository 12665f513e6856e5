package behaviors

import (
	"time"

	"github.com/understudy-go/understudy/actor"
)

// An Observation is one message or one signal that an actor has handled, see [Spy].
type Observation struct {
	Actor   actor.AnyRef
	Message any          // nil when it was a signal
	Signal  actor.Signal // nil when it was a message
	At      time.Time    // when the handler had returned
}

// Spy continues with b, and sends an [Observation] of each message and each signal to observer,
// after its handler has returned or failed. That includes messages of the actor to itself, timers,
// and the ends of watched actors. Replies and senders are not affected. Nested with the same
// observer it sends one. Spy panics if b is nil.
func Spy[M any](observer actor.ActorRef[Observation], b actor.Behavior[M]) actor.Behavior[M] {
	needBehavior("Spy", b)
	return spied(observer, b, false)
}

// SpyTree is [Spy] for the actor and all its descendants.
func SpyTree[M any](observer actor.ActorRef[Observation], b actor.Behavior[M]) actor.Behavior[M] {
	needBehavior("SpyTree", b)
	return spied(observer, b, true)
}

func spied[M any](observer actor.ActorRef[Observation], b actor.Behavior[M], children bool) actor.Behavior[M] {
	see := func(ref actor.AnyRef, msg any, sig actor.Signal) {
		observer.Tell(Observation{Actor: ref, Message: msg, Signal: sig, At: time.Now()})
	}
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		next.Observe(spyBy{observer}, see, children)
		b(ctx, next)
	}
}

type spyBy struct{ observer actor.ActorRef[Observation] }

// Monitor continues with b, and sends a copy of each message to ref before it is handled. Nested
// with the same ref it sends one copy. It panics if b is nil.
func Monitor[M any](ref actor.ActorRef[M], b actor.Behavior[M]) actor.Behavior[M] {
	needBehavior("Monitor", b)
	return wrapped(monitored[M]{ref}, func(inner actor.MessageHandler[M]) actor.MessageHandler[M] {
		return func(ctx *actor.Context[M], msg M) actor.Behavior[M] {
			ref.Tell(msg)
			return inner(ctx, msg)
		}
	}, nil, b)
}

type monitored[M any] struct{ by actor.ActorRef[M] }

// An identity wraps b only once.
func wrapped[M any](identity any,
	message func(actor.MessageHandler[M]) actor.MessageHandler[M],
	signal func(actor.SignalHandler[M]) actor.SignalHandler[M],
	b actor.Behavior[M],
) actor.Behavior[M] {
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		next.Wrap(identity, message, signal)
		b(ctx, next)
	}
}
