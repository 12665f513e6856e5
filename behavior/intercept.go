package behaviors

import "github.com/understudy-go/understudy/actor"

// An Interceptor stands around a behavior, see [Intercept]. What is nil lets everything
// pass. Its functions run inside the actor; the same Interceptor may be around the
// behaviors of many actors, and is called by them at once.
type Interceptor[M any] struct {
	// Start is given the behavior before it starts, and returns what starts in its place:
	// the same, something around it, or another.
	Start func(ctx *actor.Context[M], b actor.Behavior[M]) actor.Behavior[M]
	// Message is called instead of the handler, which is inner; whether and with what that
	// is called is for Message to say. It returns the next behavior.
	Message func(ctx *actor.Context[M], msg M, inner actor.MessageHandler[M]) actor.Behavior[M]
	// Signal is called instead of the signal handler, like Message.
	Signal func(ctx *actor.Context[M], sig actor.Signal, inner actor.SignalHandler[M]) actor.Behavior[M]
}

// Intercept goes on as b does, with i around it and around all behaviors that follow it.
// It sees all that is a message or a signal of the actor: what it is told, timers,
// adapted messages, results of piped functions; not what goes to [actor.Handle].
//
// Of interceptors that are nested the outermost is called first. One that is around the
// behavior already is not put there again; so a behavior may return itself with its
// interceptor as often as it likes. What a handler returns an interceptor with takes the
// place of the interceptors that a handler returned before.
//
// An interceptor outside of [Supervise] outlives the restarts inside; inside, a restart
// starts it anew. In both cases its own failure is one of the actor, about which the
// innermost strategy decides. Intercept panics without i or b.
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
