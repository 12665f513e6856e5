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
// [delivery.ErrNotStorable]. A store that cannot be reached or is full is asked again until it can,
// or the producer ends.
package deliveryqueue
