// Package deathwatch lets actors watch actors of other nodes. Each system that a transport.Endpoint
// serves has an actor /system/watcher. These actors exchange messages.
//
// # Protocol
//
// The watching node numbers its watches and sends to the watcher of the other node:
//
//	watch     these are my watches; fresh: I have no others there
//	unwatch   forget these: I no longer need them, or I know that they have ended
//	check     I have this many watches there, with this sum of their numbers
//
// The other node answers:
//
//	ended     these watches have ended
//	checked   I know the same watches, or I do not
//
// The messages take the same way as messages of users, so the end of an actor arrives after
// everything it has sent. They may be lost, duplicated or reordered. Checks find losses. They are
// sent every second until one is answered with "the same", and then every five seconds. An end that
// was not acknowledged is repeated. If the two sides do not know the same watches, all watches are
// sent again, fresh. A side that hears nothing from the other for a minute drops its watches.
//
// # When a watch ends
//
// A watch ends when the other node says so, also for actors that do not exist there. It also ends
//
//   - when the incarnation that confirmed the watch stops being a member;
//   - when no incarnation confirmed it and the process of the actor stops being a member, before or
//     after the watch began. The number of an actor identifies its process, see internal/node. A
//     watch of any actor at a path ends only if it began before, and if no other process is known
//     at the address;
//   - when another incarnation answers a later check;
//   - when no member is at the address and it has not answered for ten seconds.
//
// All but the third depend on what the cluster knows about its members, and do not apply while this
// node is in no cluster. An unreachable member ends no watch.
package deathwatch
