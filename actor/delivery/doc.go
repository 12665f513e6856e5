// Package delivery carries messages from one actor to another until the receiver has
// confirmed them, and no faster than it can take them.
//
// Tell is at most once: a message is lost with a connection, or with the actor that had
// it in its mailbox. Here a producer numbers messages, keeps them until they have been
// confirmed, and sends again what may be lost; a consumer puts them in order, hands them
// to a worker one at a time, and asks for more:
//
//	producer := actor.Spawn(system, delivery.Producer[Order](), "orders")
//	consumer := actor.Spawn(system, delivery.Consumer(worker), "billing")
//	producer.Tell(delivery.Connect[Order]{Consumer: consumer})
//	producer.Tell(delivery.Send[Order]{Message: order})
//
// The worker is a behavior of [Delivery], and calls [Delivery.Confirm] when it has done
// what is to be done.
//
// # Guarantees
//
//   - The worker gets the messages in the order in which the producer took them, each
//     only when the one before it is confirmed.
//   - As long as producer and consumer both live, each message is handed to the worker
//     once, whatever the network loses, doubles or delays; again only if the worker fails
//     while it has it, at the message or later, and goes on. [GiveUpAfter] says how often.
//   - A consumer that ends, or is lost with its node, is replaced with another [Connect]:
//     the next one gets all that has not been confirmed, also what the first one may have
//     handled. So across consumers delivery is at least once.
//   - A producer that ends or restarts loses what it keeps, to dead letters, unless it has
//     a [Queue]: see [WithQueue]. Then what it has accepted is stored before it is sent, and
//     the next producer with the queue goes on with it and with its numbers. A confirmation
//     that was not stored in time makes a message come again; a consumer that lives knows it.
//   - No more messages are under way to a consumer than its window, 50 by default. What
//     has no place in it waits in the producer, 1000 messages by default; beyond that new
//     ones are refused: they are dead letters with [ErrBufferFull].
//   - A message that is lost for good is a dead letter, with its reason, once. What is sent
//     again is none.
//   - [Confirmed] with a Number means that a worker has confirmed that message. A message that
//     nobody handles, as the consumer cannot decode it, takes another type or less bytes, or as
//     it was given up, is answered with Number 0, and with the reason. A queue keeps it, for
//     [Queue].List and [Resend], before it counts as settled; without a queue its dead letter is
//     all that is left.
//
// Who wants to go no faster than the consumer asks the producer to [Send], and waits for
// [Accepted]; who wants to know that a message has been handled, for [Confirmed]. A Send that
// reaches no producer that lives is a dead letter, and is not answered.
//
// With [FlowControlOnly] nothing is sent again: messages may be lost, and never come twice
// but for failures of the worker.
//
// # Work pulling
//
// [WorkPulling] is a producer with any number of consumers, the workers, each of which
// connects; [WorkPullingFor] finds those that [Serve] a [Key], on all nodes. A message goes
// to whichever has asked for some and has the fewest; what a worker had not confirmed when
// it ended goes to the others. There is an order for each worker, but none among them. With
// a queue the work outlives the producer. The next one knows nothing of the workers of the
// one before, so what these have and have not confirmed is done twice.
//
// # Other nodes
//
// Consumers may be on other nodes than their producer; M needs a name then
// ([actor.RegisterType]). Connect and Send cross the wire when [RegisterType] has named
// them. What cannot be encoded, or is larger than the network carries, is a dead letter, and
// the messages after it go on. [ChunkAbove] sends large messages in parts.
//
// A node that does not answer is waited for. When it has been removed from the cluster its
// consumers have ended. In a cluster that heals, an actor of such a node may still live, and
// handle what it has.
//
// # Testing
//
// Both are actors like others: in a bubble of testing/synctest, with clustertest for
// networks that lose messages, minutes of resending take no time. A worker can be tested
// without either: a [Delivery] that a test makes confirms nothing.
package delivery
