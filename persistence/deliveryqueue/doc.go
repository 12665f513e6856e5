// Package deliveryqueue stores the messages that a producer of package delivery has accepted. It
// stores them in a journal, under a separate persistence id:
//
//	queue := deliveryqueue.New("orders", journal)
//	producer := actor.Spawn(system, delivery.Producer[Order](delivery.WithQueue(queue)), "orders")
//
// This package is experimental: a minor release may change it.
//
// A producer that starts claims the id, which fences the previous producer. The next write of the
// fenced producer fails with [persistence.ErrFenced]. That producer then fails, too, and its
// unstored messages become dead letters. If two nodes both run the producer, only the newer one
// therefore accepts messages.
//
// Messages are stored as events of the id. A message is settled when it is confirmed or refused,
// and deleted when all earlier ones are settled, too. A message that is too large for the journal
// is refused with [delivery.ErrNotStorable].
//
// # Refused messages
//
// A message is refused if, for example, the consumer cannot decode it or gives it up. It is not
// lost: before it counts as settled, it is stored under the id with "/refused" appended. It stays
// there until it is removed or sent again, even if the producer or the process ends:
//
//	refused, err := queue.List(ctx)                      // any process may, with New and the journal
//	producer.Tell(delivery.Resend[Order]{Number: refused[0].Number})
//	err = queue.Remove(ctx, refused[1].Number)
//
// The queue keeps up to 1000 refused messages, or the number set by [MaxRefused]. No refused
// message is dropped for another one: while the limit is reached, the producer pauses and logs an
// error.
//
// # Stores
//
// While a store is unreachable or full, requests are repeated until they succeed or the producer
// ends.
package deliveryqueue
