// Package deathwatch lets actors watch actors of other nodes. Each system that a
// remote.Endpoint serves has an actor /system/watcher, and these talk to each other.
//
// # Protocol
//
// Who watches gives each of its watches a number, and tells the watcher of the other node:
//
//	watch     these are my watches; fresh: and I have no others there
//	unwatch   forget these: they are of no interest any more, or I have heard of their end
//	check     I have so many watches there, with this sum of their numbers
//
// The other node answers:
//
//	ended     what these watched has ended
//	checked   I know of the same, or I do not
//
// All of it goes the way of other messages, so the end of an actor comes after what it has
// told. Any of these may be lost, doubled or overtaken. What is lost is found out by the
// checks, which come every second until one is answered with "the same", and then every
// five seconds: an end that has not been heard of is told again, and when the two sides do
// not know the same, all watches are told anew, fresh. A side that has heard nothing of the
// other for a minute drops what that watches.
//
// # When a watch ends
//
// A watch ends when the other node says so, which it does for actors that do not live there
// as well. It also ends when the node does:
//
//   - the incarnation that has confirmed the watch was a member and is none any more,
//   - nobody has confirmed it, and the process of the actor was a member and is none any more,
//     before the watch began or after that. The number of an actor says of which process it is,
//     see internal/node. A watch of any actor that lives at a path ends only if it began before,
//     and if no other process is known to live there,
//   - another incarnation answers a later check,
//   - at the address lives no member, and it has not answered for ten seconds.
//
// All but the third rest on what a cluster says of its members. While this node is in
// no cluster itself, they do not hold. That a member does not answer ends nothing.
package deathwatch
