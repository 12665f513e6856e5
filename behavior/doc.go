// Package behaviors has constructors for the behaviors of actors. Its folder is named behavior;
// import it as
//
//	behaviors "github.com/understudy-go/understudy/behavior"
//
// A behavior that needs arguments is made by a call: [Receive], [Setup], [Supervise], [WithStash],
// [Transform], [Singleton], [EventSourced], [DurableState]. One that needs none is returned without
// calling it, and Go infers its type argument: return behaviors.[Same], behaviors.[Stopped],
// behaviors.[Unhandled], behaviors.[Ignore], behaviors.[Empty].
//
// A behavior keeps its state in one of two ways. Either it is a closure over its state, and a
// transition returns another closure:
//
//	func counter(n int) actor.Behavior[Msg] {
//		return behaviors.Receive(func(ctx *actor.Context[Msg], msg Msg) actor.Behavior[Msg] {
//			switch msg := msg.(type) {
//			case Increment:
//				return counter(n + 1)
//			case Get:
//				msg.ReplyTo.Tell(n)
//				return behaviors.Same
//			}
//			return behaviors.Unhandled
//		})
//	}
//
// Or it is a struct whose methods are the handlers. Make the struct in a [Setup], so that each
// incarnation has its own. Never share state between incarnations: a restart exists to discard it.
//
// # Wrapping a behavior
//
// [Intercept] wraps a behavior: the interceptor sees its messages, its signals and its start, and
// may change them. [Monitor], [LogMessages] and [Spy] only observe: the first two before a message
// is handled, Spy afterwards. A wrapper
//
//   - is called before the wrappers that it encloses;
//   - stays when the behavior changes; adding the same wrapper again has no effect;
//   - gives way, if a handler returned it, to the wrapper that a later handler returns;
//   - survives restarts if it is outside [Supervise], and is started again if it is inside.
//
// # Postponing messages
//
// A message that cannot be handled yet goes into a stash, see [WithStash], and returns to the front
// of the mailbox later. A message that is lost from a stash is a dead letter: when the stash is
// full, in a restart, and at the end of the actor.
//
// # Converting messages
//
// [Transform] makes an actor of one message type from a behavior of another, in one actor with one
// mailbox. To receive replies of other actors in their own types, use [actor.Adapt].
//
// # Testing
//
// Package testkit has probes that stand in for other actors. In a bubble of testing/synctest time
// is virtual, and a test of an hour takes no time.
package behaviors
