// Package router has behaviors that route each message to one of several actors, or to all of them.
//
//	pool := actor.Spawn(system, router.Pool(4, worker()), "workers")
//	group := actor.Spawn(system, router.Group(workers), "workers-anywhere")
//
// A router is an ordinary actor: its ref takes the messages of its routees, and senders need not
// know that there are several.
//
//   - A [Pool] spawns its routees as its children, and ends with the last of them.
//   - A [Group] finds its routees by a service key, on all nodes of the cluster: see package
//     receptionist.
//
// # Which routee gets a message
//
//	option                  routee                                             default of
//	RoundRobin              each in turn                                       Pool
//	Random                  any                                                Group
//	ConsistentHashing(f)    the same one for messages of the same f(msg)
//	SmallestMailbox         the one with the fewest messages; pools only
//	Broadcast(which)        all, for messages of which which returns true
//
// [PreferLocal] makes a group use instances of its own node while there are any.
//
// # Guarantees
//
//   - Messages of one sender to one routee stay in order. Messages to different routees are not
//     ordered; use [ConsistentHashing] where messages about one thing must not overtake each other.
//     While routees come and go, messages of one key may reach two of them.
//   - A routee that has ended gets no messages once the router has noticed. Messages sent to it
//     before that are dead letters with actor.ErrTerminated.
//   - A group uses reachable instances, and unreachable ones only when there are no others.
//   - A group without instances makes each message a dead letter with [ErrNoRoutees]. It knows the
//     listing of its node from its first message on.
//   - With [ConsistentHashing], when an n-th routee comes or goes, about one in n keys moves.
//     Groups of different nodes choose the same routees when their listings are equal.
//
// Supervision belongs to the routees: give Pool a supervised behavior. A message at which a
// function of an option panics becomes a dead letter, and the router continues.
//
// # Cost
//
// A router adds one mailbox: about the time of a second Tell, without allocations.
// [SmallestMailbox] allocates for each message, since it tracks when the message has been handled.
//
// # Testing
//
// Routees can be testkit probes, registered for the service of a group.
package router
