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
//     at it and is restarted. After ten failures it is a dead letter with [ErrGivenUp],
//     and counts as confirmed.
//   - A consumer that ends, or is lost with its node, is replaced with another [Connect]:
//     the next one gets all that has not been confirmed, also what the first one may have
//     handled. So across consumers delivery is at least once.
//   - A producer that ends loses what it keeps, to dead letters, unless it has a [Queue]:
//     see [WithQueue]. Then what it has accepted is stored before it is sent, and the next
//     producer with the queue goes on with it and with its numbers. A confirmation that
//     was not stored in time makes a message come again; a consumer that lives knows it.
//   - No more messages are under way to a consumer than its window, 50 by default. What
//     has no place in it waits in the producer, 1000 messages by default; beyond that new
//     ones are refused: they are dead letters with [ErrBufferFull].
//
// Who wants to go no faster than the consumer asks the producer to [Send], and waits for
// [Accepted].
//
// # Work pulling
//
// [WorkPulling] is a producer with any number of consumers, the workers, each of which
// connects. A message goes to whichever has asked for some and has the fewest; what a
// worker had not confirmed when it ended goes to the others. There is an order for each
// worker, but none among them.
//
// # Other nodes
//
// Consumers may be on other nodes than their producer; M needs a name then
// ([actor.RegisterType]). Connect and Send cross the wire when [RegisterType] has named
// them. What cannot be encoded is a dead letter, and the messages after it go on.
//
// # Testing
//
// Both are actors like others: in a bubble of testing/synctest, with clustertest for
// networks that lose messages, minutes of resending take no time.
package delivery
