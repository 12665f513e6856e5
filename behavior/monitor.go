package behaviors

import "github.com/understudy-go/understudy/actor"

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
