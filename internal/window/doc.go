// Package window has the two ends of at-least-once delivery: a [Sender] that numbers messages
// and keeps them until they are acknowledged, and a [Receiver] that puts them in order, drops
// duplicates and says what has been handled. Both are pure: they send nothing and know no clock.
//
// # Protocol
//
// Each message carries its number and the number of the oldest message that its sender keeps
// (first). All messages before first are acknowledged. The receiver answers with [Receiver.Ack],
// and with [Receiver.Received] when a message is missing ([Gap]); the sender then calls
// [Sender.Ack] and [Sender.Rewind]. A message or an answer may be lost at any time. The caller
// therefore repeats the oldest message, or asks for an answer, as long as [Sender.Pending] is
// true.
//
// # Guarantees
//
//   - Whatever the network loses, repeats or reorders, [Receiver.Take] accepts the numbers of a
//     stream in order, without gaps, and each once per receiver and [Receiver.Restart].
//   - A number counts as handled when the receiver was told so by [Receiver.Handled] or
//     [Receiver.HandledOnly], or when a sender or another receiver says so ([Receiver.Begin],
//     [Receiver.Learn]). Nothing takes that back.
//   - A [Refusal] is repeated until the sender acknowledges it by a first after its number, so a
//     lost answer loses no refusal. No answer acknowledges a refused number without its refusal.
//   - A sender whose receiver is replaced sends everything again that is not acknowledged
//     ([Sender.Restart]). Delivery is at least once across receivers.
//
// The window itself, which is how many messages may be in flight, belongs to the caller: it
// passes the highest number that may be sent to [Sender.Next].
//
// No type of this package is safe for concurrent use.
package window
