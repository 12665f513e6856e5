// Package deliveryqueue keeps what a producer of package delivery has accepted on a
// journal, under a persistence id of its own:
//
//	queue := deliveryqueue.New("orders", journal)
//	producer := actor.Spawn(system, delivery.Producer[Order](delivery.WithQueue(queue)), "orders")
//
// A producer that starts claims the id. From then on one that had it before is fenced: the
// next thing that it would store fails with [persistence.ErrFenced], and so does it, to
// everything it has not stored a dead letter. So of two nodes that both believe to run the
// producer only the newer one accepts messages.
//
// Messages are stored as events of the id, and deleted when it is stored that they have
// been confirmed; of work that is done in another order than it came, when all before it has
// been. A message that is larger than the journal takes is refused, with
// [delivery.ErrNotStorable].
//
// # What nobody has handled
//
// A message that was refused, as the consumer could not decode it, say, or has given it up, is
// not lost: before it counts as confirmed it is stored in a part of the queue of its own, under
// the id with "/refused" added. There it stays until it is removed or sent again, also when the
// producer or the process ends:
//
//	refused, err := queue.List(ctx)                      // any process may, with New and the journal
//	producer.Tell(delivery.Resend[Order]{Number: refused[0].Number})
//	err = queue.Remove(ctx, refused[1].Number)
//
// Of them 1000 are kept, or as many as [MaxRefused] says. No message is dropped for another one:
// while there is no room the producer stops, and says so in the log.
//
// # Stores
//
// A store that cannot be reached or is full is asked again until it can,
// or the producer ends.
package deliveryqueue
