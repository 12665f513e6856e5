// Package behaviors is the catalogue of what an actor can be. Its folder is named
// behavior; import it as
//
//	behaviors "github.com/understudy-go/understudy/behavior"
//
// A behavior that needs a function is made by a call: [Receive], [Setup], [Supervise],
// [Singleton], [EventSourced]. One that needs none is returned as it is, without calling
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
// # Testing
//
// Package testkit has probes that stand in for other actors; with testing/synctest time
// is virtual, and a test of an hour takes no time.
package behaviors
