// Package receptionist finds actors by what they are for: an actor is registered for a
// service, and others find it, on any node of the cluster, without knowing its path.
//
//	var workers = receptionist.NewKey[Job]("workers")
//
//	receptionist.Register(system, workers, ref)           // or behaviors.Discoverable
//	for _, ref := range receptionist.Find(system, workers).Reachable() { … }
//
// The key carries the type of messages: registering a ref of another type does not
// compile, and what is found is an ActorRef of that type. Actors that want to know of
// every change use [Subscribe]. Package router has a router over the instances of a
// service.
//
// # What holds
//
//   - What has been registered on a node is found there when [Register] returns, and not
//     any more when [Deregister] has returned. A registration ends with its actor; a
//     restart does not end it.
//   - Subscribers see a current listing first, then the newest whenever it has changed.
//     They may skip some, never the last.
//   - Every node knows the registrations of every member. Those of a node that leaves, is
//     removed, or starts anew at the same address, vanish everywhere with its membership,
//     and never come back, whatever arrives late: they belong to one incarnation.
//   - Instances on a member that does not answer stay listed, and are not among the
//     [Listing.Reachable]. A node that is cut off lists its own until it is a member again.
//   - A node that rejoins as a new incarnation keeps its registrations, as its actors
//     live on.
//
// # How soon
//
// Listings of different nodes are eventually the same. While members reach each other, a
// registration is known everywhere after the time of one message. A node that joins, or can
// be reached again, is told everything when the cluster sees that, and what was lost
// without anybody noticing is repaired within half a minute: versions are compared with
// each member in turn. No listing says that an actor lives: it may have ended a moment ago.
//
// # What it costs
//
// A change is one message to each other member, however many registrations change in a
// moment. A member that joins gets all that each node has registered, in messages of 2000
// entries, some hundred bytes each. After that every node sends one small message to each
// other in half a minute. A cluster in which nothing is registered sends nothing. Every
// node keeps all registrations in memory.
//
// # One name, two types
//
// A service has one type of messages. Using its name with another one on the same node is
// a mistake in the program, and panics. Where different nodes disagree, for instance in
// the middle of an update, actors of the other type are not listed; [Listing]'s Err
// names them, it is logged, and a [Mismatch] is published, once for each. Types are
// compared by the names given to [actor.RegisterType]; those without, such as interfaces,
// by package and name.
//
// # From outside
//
// Who is no member asks a node, for instance a client of package cluster its contact:
//
//	listing, err := receptionist.Lookup(ctx, client.System, client.Contact(), workers)
//
// Under the path /system/receptionist every node takes the registered type "understudy.receptionist.query", the CBOR array [service, ref to reply
// to], and answers with an "understudy.receptionist.answer",
// [[[[service, type, path], [address, incarnation], local, reachable], …]].
//
// # Testing
//
// It needs no cluster: in a system of testkit it works on one node. Package
// testkit/clustertest has clusters in virtual time.
package receptionist
