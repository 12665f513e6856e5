// Package receptionist finds actors by what they do: an actor is registered for a service, and
// others find it, on any node of the cluster, without knowing its path.
//
//	var workers = receptionist.NewKey[Job]("workers")
//
//	receptionist.Register(system, workers, ref)           // or behaviors.Discoverable
//	for _, ref := range receptionist.Find(system, workers).Reachable() { … }
//
// The key carries the type of messages: registering a ref of another type does not compile, and
// Find returns refs of that type. Actors that follow every change use [Subscribe]. Package router
// has a router over the instances of a service. All functions may be called by any goroutine.
//
// # Guarantees
//
//   - When [Register] has returned, [Find] on the same node finds the actor; when [Deregister] has
//     returned, it does not. A registration ends with its actor, not with a restart.
//   - Subscribers get the current listing first, then the newest whenever it has changed. They may
//     skip listings, but never the last.
//   - Every node knows the registrations of every member. The registrations of a node that leaves,
//     is removed, or restarts at the same address disappear everywhere with its membership. They
//     never come back, however late a message arrives: they belong to one incarnation of the node.
//   - Instances on an unreachable member stay listed, but [Listing.Reachable] leaves them out. A
//     node that is partitioned lists its own until it is a member again.
//   - A node that rejoins as a new incarnation keeps its registrations, as its actors live on.
//
// # How soon
//
// Listings of different nodes are eventually equal. While members reach each other, a registration
// is known everywhere after the time of one message. A node that joins, or becomes reachable again,
// gets everything as soon as the cluster notices. A loss that no node notices is repaired within 30
// s: every node compares versions with each member in turn. A listing does not prove that an actor
// lives: it may have ended a moment ago.
//
// # Cost
//
// A change is one message to each other member, however many registrations change at the same
// moment. A member that joins gets all registrations of each node, in messages of about 64 KiB.
// After that, every node sends one small message to each other node per 30 s. A cluster without
// registrations sends nothing. Every node keeps all registrations in memory.
//
// # One name, two types
//
// A service has one type of messages. Using its name with another type on the same node is a
// mistake in the program, and panics. Where nodes disagree, for instance during an update, actors
// of the other type are not listed: [Listing]'s Err names them, and each is logged and published as
// a [Mismatch] once. Types are compared by the names given to [actor.RegisterType]. A type without
// one is compared by its name in Go, such as "shop.Order". To rename or move the type while old
// nodes run, register it under the old name; this is also possible for an interface.
//
// # From outside
//
// A system that is not a member asks a node. A client of package cluster asks its contact, and then
// other members:
//
//	listing, err := cluster.Lookup(ctx, client, workers)
//
// Other programs can ask as well. The actor /system/receptionist of every node takes the registered
// type "understudy.receptionist.query", the CBOR array [service, ref to reply to], and answers with
// an "understudy.receptionist.answer",
// [[[[service, type, path], [address, incarnation], local, reachable], …]].
//
// # Testing
//
// The receptionist works without a cluster, on the one node of a system of testkit. Package
// testkit/clustertest has clusters in virtual time.
package receptionist
