// Package actor runs typed actors on one node. Package behaviors has the constructors of their
// behaviors; clusters, singletons, persistence and test kits are in other packages that build on
// this one.
//
// An actor has a mailbox and a behavior. Its messages have one type, M, and are handled one at a
// time, so the state of an actor needs no lock. Others hold an [ActorRef], by which they
// [ActorRef.Tell] the actor something, or [Ask] it and wait for a reply.
//
//	system := actor.NewSystem("example")
//	greeter := actor.Spawn(system, behaviors.Receive(
//		func(ctx *actor.Context[string], name string) actor.Behavior[string] {
//			fmt.Println("hello,", name)
//			return behaviors.Same
//		}), "greeter")
//	greeter.Tell("Ada")
//
// An idle actor takes less than 500 bytes and no goroutine. An actor that has something to do runs
// in a goroutine until it is done. A handler may block, but its own actor handles no other message
// meanwhile: see [PipeToSelf].
//
// # Messages
//
// M is any type: a struct, a pointer, or an interface that lists the messages of the actor. A
// message is passed as it is; do not change it afterwards. A message that wants a reply has a field
// of type ActorRef of the reply's type.
//
// An actor that uses the protocol of another one gives it a ref made by [Adapt], which converts the
// replies into its own M.
//
// # Order and delivery
//
//   - Messages from one sender to one actor arrive in the order in which they were sent. There is
//     no order between different senders.
//   - A message is handled at most once. Within a node it is handled exactly once, unless the actor
//     ends before, its mailbox is full, or it fails while handling the message.
//   - A message that could not be delivered is a [DeadLetter], with the reason. A failure while
//     handling a message is logged.
//   - Everything that an actor does before it sends a message happens before the receiver handles
//     it, in the sense of the Go memory model.
//   - Tell never fails. It blocks only if the mailbox does, see [Mailbox.Block], or while the queue
//     for another node is full. It never blocks other nodes or actors of the framework.
//   - Mailboxes are unbounded by default. A full [Bounded] mailbox drops messages, but never the
//     end of a watched actor, a timer, or the result of a piped function.
//   - The ends of watched actors, and the messages of timers, adapters and piped functions, take
//     their place among the other messages. Only a stop comes before messages that wait.
//
// # The life of an actor
//
// [Spawn] returns immediately; the behavior starts inside the actor. Every actor except the
// top-level ones has a parent, and ends before it. An actor ends when its behavior stops, when its
// parent stops it ([Context.Stop], [Context.Drain]), when it fails and is not supervised, and when
// the system shuts down. Its end has these steps:
//
//  1. Its context is done, and its timers are cancelled.
//  2. Its children end.
//  3. Its current behavior gets [PostStop]; then the functions given to [Context.Defer] run.
//  4. Messages that wait become dead letters, and the name is free again.
//  5. Watchers and asks are notified.
//
// A behavior whose start failed gets no signal, but the functions that it deferred run.
//
// # Failures
//
// A failure is a panic in a handler, or an error given to [Context.Fail]. It does not affect other
// actors: the actor stops, unless its behavior is supervised with a [Strategy]. A restart keeps the
// ref, the mailbox and the context, and discards the state; the actor continues as a new
// incarnation. It has these steps:
//
//  1. Timers are cancelled.
//  2. The behavior that failed gets [PreRestart], and the functions that it deferred run.
//  3. Watches end.
//  4. Children are stopped, and the restart waits for their end.
//  5. The backoff passes.
//  6. The supervised behavior starts again.
//  7. Waiting messages are handled in order.
//
// Strategies nest: the innermost decides first and may [Escalate]. Escalation beyond the outermost
// one ends the actor and fails its parent.
//
// A handler that calls runtime.Goexit ends its actor, whatever the strategy.
//
// # Shutdown
//
// [System.Shutdown] ends a system in phases: stop accepting work, finish accepted work, leave the
// cluster, stop the actors, close their resources. [System.OnShutdown] adds tasks to them. Each
// phase has a timeout, and a failure does not prevent later phases. A main function ends with
// [System.ShutdownOnSignal].
//
// # Watching
//
// [Context.Watch] notifies an actor of the end of another by [Terminated], after all messages from
// it, and immediately if it has ended before. A parent that watches its child gets [ChildFailed] if
// the child ended by a failure. A watcher that does not handle the signal fails with
// [ErrDeathPact]. Actors on other nodes can be watched as well; they have also ended when their
// node is gone.
//
// # Timers
//
// Timers have keys: [Context.After], [Context.Every] and [Context.AtFixedRate] replace the timer
// with the same key. A timer that was cancelled or replaced never delivers, even if its message was
// already in the mailbox. No timer survives a restart.
//
// # Dead letters and other events
//
// [Subscribe] a ref to [DeadLetter], to [UnhandledMessage], or to a type of your own that you send
// with [System.Publish]. The first ten dead letters of a type and reason are also logged, and of
// others their number once a minute. All are counted by reason, see
// [System.DeadLettersByReason].
//
// # Contexts
//
// [Context] is a context.Context that is done when the actor is told to stop: pass it to the
// functions that the actor calls. Unlike other contexts it is stored in the actor, because it lives
// as long. Its other methods are reserved for the handlers of the actor; a goroutine that the actor
// starts may use only the context.Context and refs. With the race detector, or the build tag
// understudy_debug, other uses panic.
//
// Functions that wait take a context from the caller. Only asks also have a form with a timeout,
// [AskTimeout] and [AskResultTimeout], because a context with a deadline costs more than a local
// ask. [AskToSelf] does not wait.
//
// # Other nodes
//
// A system with a transport, such as package remote, has an address. Refs of its actors work on
// other nodes, to which they travel inside messages. A type that crosses the wire needs a
// name, see [RegisterType]. A message to another node is delivered at most once and in order; if it
// is known to be lost, it is a dead letter on the node that finds out.
//
// # Testing
//
// Package testkit has probes that stand in for other actors. Run tests in bubbles of
// testing/synctest: idle actors are durably blocked there, so time is virtual, and synctest.Wait
// returns when every actor has done what it can.
package actor
