// Package recall keeps messages in order while the instance that they are for moves from one node
// to another.
//
//   - [Lane] is what a node has for an instance: it sends, keeps, returns and recalls messages.
//   - [Leftovers] are what an instance has not handled, for the next one.
//   - [Buffer] holds the messages of one node while its [Route] leads nowhere, or while others
//     are recalled from the former node of the route.
//   - [Barrier] numbers a question to another node, such as a recall.
//   - [RetryTimer] says when to repeat what may have been lost.
//
// All are pure: they send nothing and know no clock. They are not safe for concurrent use.
package recall
