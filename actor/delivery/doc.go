// Package delivery carries messages from one actor to another at least once, in order, and no
// faster than the receiver handles them.
//
// This package is experimental: a minor release may change it.
//
// A plain Tell is at most once: a message is lost with a connection, or with the actor that had it
// in its mailbox. Here a producer numbers messages, keeps them until they are confirmed, and sends
// again what may be lost. A consumer puts them in order, hands them to a worker one at a time, and
// asks for more:
//
//	producer := actor.Spawn(system, delivery.Producer[Order](), "orders")
//	consumer := actor.Spawn(system, delivery.Consumer(worker), "billing")
//	producer.Tell(delivery.Connect[Order]{Consumer: consumer})
//	producer.Tell(delivery.Send[Order]{Message: order})
//
// The worker is a behavior of [Delivery], in the actor of its consumer. It calls [Delivery.Confirm]
// when it has handled the message.
//
// # Guarantees
//
//   - The worker gets the messages in the order in which the producer took them, each only after
//     the one before it was confirmed.
//   - As long as producer and consumer both live, each message is handed to the worker once,
//     whatever the network loses, repeats or delays. It is handed again only if the worker fails
//     before it confirms, and survives. [Attempts] limits how often.
//   - A consumer that ends, or is lost with its node, is replaced by another [Connect]. The next
//     consumer gets every message that is not confirmed, including those that the first may have
//     handled. Across consumers delivery is therefore at least once.
//   - A producer that ends or restarts loses the messages it keeps, to dead letters, unless it has
//     a [Queue]: see [WithQueue]. With a queue a message is stored before it is sent, and the next
//     producer with the queue continues with the messages and their numbers. If a confirmation was
//     not stored in time, the message is sent again; a consumer that still lives recognizes it.
//   - At most [Window] messages are in flight to a consumer, 50 by default. Further messages wait
//     in the producer, up to [Buffer], 1000 by default. When the buffer is full, new messages
//     become dead letters with [ErrBufferFull].
//   - A message that is lost for good becomes a dead letter once, with its reason. A message that
//     is sent again does not.
//   - [Confirmed] with a Number means that a worker has confirmed that message. A message that no
//     worker will handle (the consumer cannot decode it, takes another type or fewer bytes, or has
//     given it up) is answered with Number 0 and the reason. A queue stores it, for [Queue].List
//     and [Resend], before it counts as settled; without a queue only its dead letter remains.
//
// To send no faster than the consumer handles messages, wait for the [Accepted] of each [Send]. To
// learn that a message was handled, wait for its [Confirmed]. A Send that reaches no living
// producer is a dead letter and gets no answer.
//
// With [FlowControlOnly] no message is sent again: messages may be lost, and are handed twice only
// when the worker fails.
//
// # Work pulling
//
// [WorkPulling] is a producer with any number of consumers, each of which connects;
// [WorkPullingFor] finds the consumers that [Serve] a [Key], on all nodes. A message goes to the
// consumer with the fewest unconfirmed messages among those that have asked for more. When a
// consumer ends, its unconfirmed messages go to the others. Messages of one consumer are ordered;
// messages of different consumers are not. With a queue the work survives the producer. The next
// producer does not know the consumers of the one before, so messages that these have and have not
// confirmed are handled twice.
//
// # Many receivers by id
//
// [ProducerByID] sends to many receivers, such as the entities of package cluster/sharding: each
// [Send] names one. Each receiver has a window of its own, and is forgotten when nothing has been
// sent to it for a while. Messages reach a receiver in order, also when it passivates, fails or
// moves to another node. A persistent worker that must handle a message no more than once gives its
// [Delivery.Key] to persistence.Once. [Direct] passes a worker a message without a producer, for
// example a question.
//
// # Other nodes
//
// Consumers may be on other nodes than their producer; M then needs a name
// ([actor.RegisterType]). Connect and Send cross the wire when [RegisterType] has named them. A
// message that cannot be encoded, or is larger than the network carries, becomes a dead letter,
// and the messages after it continue. [ChunkAbove] sends large messages in parts.
//
// The producer keeps messages for a node that does not answer. When the node is removed from the
// cluster, its consumers have ended. In a cluster that heals, an actor of such a node may still
// live, and handle the messages it has.
//
// # Testing
//
// Producers and consumers are ordinary actors: in a bubble of testing/synctest, with clustertest
// for networks that lose messages, minutes of resending take no time. A worker can be tested
// alone: a [Delivery] that a test makes ignores Confirm.
package delivery
