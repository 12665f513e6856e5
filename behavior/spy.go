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

// Spy goes on as b does, and tells observer of each message and each signal after its
// handler has returned or failed: also what the actor tells itself, its timers, and the
// ends of those whom it watches. Replies and senders notice nothing. Nested, each observer
// is told once. It panics without b.
func Spy[M any](observer actor.ActorRef[Observation], b actor.Behavior[M]) actor.Behavior[M] {
	needBehavior("Spy", b)
	return spied(observer, b, false)
}

// SpyTree is [Spy] on the actor and on all that it spawns, and on what those spawn.
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

// spyBy is the identity of what Spy puts around a behavior.
type spyBy struct{ observer actor.ActorRef[Observation] }
