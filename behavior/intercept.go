package behaviors

import "github.com/understudy-go/understudy/actor"

// An Interceptor wraps a behavior, see [Intercept]. Fields that are nil change nothing. Its
// functions run inside the actor. One Interceptor may wrap the behaviors of many actors, which then
// call it concurrently.
type Interceptor[M any] struct {
	// Start gets the behavior before it starts, and returns the behavior to start instead: the
	// same, a wrapped one, or another.
	Start func(ctx *actor.Context[M], b actor.Behavior[M]) actor.Behavior[M]
	// Message is called instead of the message handler, which it gets as inner and may call, or
	// not. It returns the next behavior.
	Message func(ctx *actor.Context[M], msg M, inner actor.MessageHandler[M]) actor.Behavior[M]
	// Signal is called instead of the signal handler, like Message.
	Signal func(ctx *actor.Context[M], sig actor.Signal, inner actor.SignalHandler[M]) actor.Behavior[M]
}

// Intercept continues with b, with i around it and around all later behaviors. i sees all messages
// and signals of the actor, including those of timers and adapters and results of piped functions,
// but not messages of the framework.
//
// Of nested interceptors the outermost is called first. An interceptor that is already around the
// behavior is not added again, so a behavior may return itself with its interceptor any number of
// times. If a handler returns a behavior with a new interceptor, it replaces the interceptors
// installed by earlier handlers; they do not accumulate.
//
// An interceptor outside [Supervise] survives the restarts inside; one that is inside is started
// again. In both cases its own failure is one of the actor, about which the innermost strategy
// decides. Intercept panics if i or b is nil.
func Intercept[M any](i *Interceptor[M], b actor.Behavior[M]) actor.Behavior[M] {
	if i == nil {
		panic("behaviors: Intercept needs an interceptor")
	}
	needBehavior("Intercept", b)
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		first := b
		if fresh := next.Wrap(i, i.aroundMessage(), i.aroundSignal()); fresh && i.Start != nil {
			first = i.Start(ctx, b)
		}
		if first != nil {
			first(ctx, next)
		}
	}
}

func (i *Interceptor[M]) aroundMessage() func(actor.MessageHandler[M]) actor.MessageHandler[M] {
	if i.Message == nil {
		return nil
	}
	return func(inner actor.MessageHandler[M]) actor.MessageHandler[M] {
		return func(ctx *actor.Context[M], msg M) actor.Behavior[M] { return i.Message(ctx, msg, inner) }
	}
}

func (i *Interceptor[M]) aroundSignal() func(actor.SignalHandler[M]) actor.SignalHandler[M] {
	if i.Signal == nil {
		return nil
	}
	return func(inner actor.SignalHandler[M]) actor.SignalHandler[M] {
		return func(ctx *actor.Context[M], sig actor.Signal) actor.Behavior[M] { return i.Signal(ctx, sig, inner) }
	}
}
