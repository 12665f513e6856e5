// Package behaviors is the catalogue of what an actor can be. Its folder is named
// behavior; import it as
//
//	behaviors "github.com/understudy-go/understudy/behavior"
//
// A behavior that needs a function is made by a call: [Receive], [Setup], [Supervise],
// [WithStash], [Transform], [Singleton], [EventSourced], [DurableState]. One that needs none is returned as it is, without calling
// it, and its type argument is inferred: return behaviors.[Same], behaviors.[Stopped],
// behaviors.[Unhandled], behaviors.[Ignore], behaviors.[Empty].
//
// State lives where Go keeps it best. Either a behavior is a closure over its state,
// and a transition returns another:
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
// or it is a struct whose methods are the handlers, made in a [Setup] so that each
// incarnation has its own. Never share state between incarnations: a restart is there
// to get rid of it.
//
// # Around a behavior
//
// [Intercept] puts something around a behavior that sees its messages, its signals and its
// start, and may change all of them. [Monitor], [LogMessages] and [Spy] are made by the same
// means and only look on: before, before and after a message is handled. What is around a
// behavior
//
//   - is called from the outside in, in the order in which it is written;
//   - stays when the behavior changes, and is never there twice;
//   - gives way, if a handler has returned it, to what a handler returns later;
//   - outlives restarts where it is outside of [Supervise], and starts anew inside.
//
// # Not now
//
// A message that cannot be handled yet goes into a stash, see [WithStash], and comes back
// before whatever waits in the mailbox. Nothing in it is lost without a dead letter: not
// when there is no room, not in a restart, not at the end.
//
// # Another type
//
// [Transform] makes an actor of one message type from a behavior of another, in one actor
// with one mailbox. To take the replies of others in their own types, there is
// [actor.Adapt].
//
// # Testing
//
// Package testkit has probes that stand in for other actors; with testing/synctest time
// is virtual, and a test of an hour takes no time.
package behaviors
