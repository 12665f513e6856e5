// Package actor runs typed actors: it is the runtime of one node. What actors can be is
// in package behaviors; clusters, singletons, persistence and tests have packages of
// their own, which are built on this one.
//
// An actor has a mailbox and a behavior. Its messages are all of one type, M, and are
// handled one at a time; so the state of an actor needs no lock. Others hold an
// [ActorRef] of it and can do two things: [ActorRef.Tell] it something, or [Ask] it and
// wait for a reply.
//
//	system := actor.NewSystem("example")
//	greeter := actor.Spawn(system, behaviors.Receive(
//		func(ctx *actor.Context[string], name string) actor.Behavior[string] {
//			fmt.Println("hello,", name)
//			return behaviors.Same
//		}), "greeter")
//	greeter.Tell("Ada")
//
// An idle actor costs less than 500 bytes and no goroutine. One that has something to
// do runs in a goroutine until it has done it; so a handler may block, but keeps its own
// actor from its mailbox meanwhile: see [PipeToSelf].
//
// # Messages
//
// M is any type: a struct, a pointer, or an interface that lists what the actor
// understands. A message is handed over as it is; do not change it afterwards. What
// somebody needs in order to reply is in the message, as a field of type ActorRef of the
// reply's type.
//
// An actor that talks to others in their protocols gives them a ref made by [Adapt],
// which turns what they say into its own M.
//
// # Order and delivery
//
//   - Messages from one sender to one actor arrive in the order in which they were told.
//     Between different senders there is no order.
//   - A message is handled at most once. Within a node it is handled exactly once, unless
//     the actor ends before, has no room for it, or fails while it handles it.
//   - A message that could not be delivered is a [DeadLetter], with the reason. A failure
//     to handle one is in the log.
//   - What an actor does before it tells a message has happened before what the receiver
//     does with it, in the sense of the Go memory model.
//   - Tell never fails, and never blocks unless a mailbox does, see [Mailbox.Block]. Other
//     nodes, and actors of the framework, do not wait there either.
//     Mailboxes are unbounded, unless they are [Bounded]; a full one drops
//     messages, never the end of a watched actor, a timer or the result of a piped
//     function.
//   - The end of a watched actor, and what timers, adapters and piped functions bring,
//     take their place among the messages. Only a stop comes before what waits.
//
// # The life of an actor
//
// [Spawn] returns at once; the behavior starts inside the actor. Every actor but the
// top-level ones has a parent, and ends before it. An actor ends when its behavior says
// so, when its parent stops it ([Context.Stop], [Context.Drain]), when the context given
// to [WithContext] is done, when it fails and nobody says otherwise, and when the system
// shuts down. In order:
//
//  1. Its context is done, its timers are cancelled.
//  2. Its children end.
//  3. Its current behavior gets [PostStop], then what was given to [Context.Defer] runs.
//  4. The messages that wait become dead letters, and the name is free again.
//  5. Its watchers and asks are told.
//
// A behavior whose start failed gets no signal, but what it deferred runs.
//
// # Failures
//
// A failure is a panic in a handler, or an error given to [Context.Fail]. It never goes
// further than its actor, which stops, unless its behavior is supervised with a
// [Strategy]. A restart keeps the ref, the mailbox and the context, and throws away the
// state. In order: timers are cancelled; the behavior that failed gets [PreRestart], and
// what it deferred runs; watches end; children are stopped and waited for; the backoff
// passes; the supervised behavior starts again; what has waited is handled in order.
//
// Strategies nest: the innermost decides first and may [Escalate]. Beyond the outermost
// that ends the actor and fails its parent.
//
// A handler that calls runtime.Goexit ends its actor, whatever the strategy says.
//
// # Shutdown
//
// System.Shutdown ends a system in phases, to which System.OnShutdown adds tasks: take
// nothing new, finish what has been taken, leave the cluster, stop the actors, close what
// they need. Each phase has a timeout, and a failure keeps none of the others from
// running. A main function ends with System.ShutdownOnSignal.
//
// # Watching
//
// [Context.Watch] tells an actor of the end of another by [Terminated], after all that
// the other has told it, and at once if it has ended before. A parent that watches its
// child gets [ChildFailed] when the child ended by a failure. Who does not handle the
// signal fails with [ErrDeathPact]: to watch is to depend. Actors of other nodes can be
// watched as well; they have ended, too, when their node is gone.
//
// # Timers
//
// Timers have keys: [Context.After], [Context.Every] and [Context.AtFixedRate] replace the
// timer of the same key. One that has been cancelled or replaced never tells anything again, even if its
// message was in the mailbox already, and none outlives a restart.
//
// # Dead letters and other events
//
// [Subscribe] a ref to [DeadLetter], [UnhandledMessage] or a type of your own on the
// system, where [System.Publish] tells subscribers anything. The first dead letters are also logged, and all are counted by
// their reasons: [System.DeadLettersByReason].
//
// # Contexts
//
// [Context] is a context.Context that is done when the actor is told to stop: give it to
// what the actor calls. It is kept in the actor, against the custom, because it lives as
// long as that. Its other methods are for the actor's own handlers only; a goroutine that
// the actor starts may use the context.Context, refs, and nothing else. With the race
// detector, or the build tag understudy_debug, anything else panics.
//
// Functions that wait take a context of the caller's; there are no timeouts here, but for
// [AskToSelf], where nobody waits.
//
// # Other nodes
//
// A system that was made [WithTransport] has an address, and refs of its actors work on
// other nodes, to which they travel inside messages. A type that is to cross the wire
// needs a name: [RegisterType]. A message to another node is delivered at most once and
// in order; what is known to be lost is a dead letter where that is found out.
//
// # Testing
//
// Package testkit has probes that stand in for other actors. Run tests in bubbles of
// testing/synctest: idle actors are durably blocked there, so that time is virtual, and
// synctest.Wait returns when every actor has done what it could.
package actor
