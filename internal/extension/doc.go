// Package extension is for our own code that extends the actor runtime: transports, clusters,
// stores, routers and test kits.
//
// It has four parts. All functions may be called from any goroutine.
//
//   - Values of a system: [Ensure], [Get] and [Set] keep one value per static type for as long
//     as the system exists.
//   - Delivery: [DeadLetter], [Deliver], [Hold] and [Bypass] carry messages of users without
//     losing one silently; [AfterEnd] and [OnEnd] report the end of an actor.
//   - Encoding: [Pack] and [Unpack] turn messages, events and states into a [Payload] and back.
//   - Transports: [WithTransport] connects a system to other nodes; [Dispatch] and [DispatchAll]
//     deliver what arrives from them.
//
// # Testing
//
// A test that wants another value than the one that [Ensure] would create calls [Set] first,
// before anybody uses the extension. [WithEncoding] encodes every message as between nodes.
package extension
