// Package router has behaviors that pass messages on to one of several actors, or to all
// of them.
//
//	pool := actor.Spawn(system, router.Pool(4, worker()), "workers")
//	group := actor.Spawn(system, router.Group(workers), "workers-anywhere")
//
// A router is an actor like any other: its ref is an ActorRef of what its routees take, and
// nobody needs to know that there are several.
//
//   - A [Pool] spawns its routees, as its children, and ends with the last of them.
//   - A [Group] finds them by a service key, on all nodes of the cluster: see package
//     receptionist.
//
// # Who gets a message
//
//	option                  who                                                default of
//	RoundRobin              each in turn                                       Pool
//	Random                  any                                                Group
//	ConsistentHashing(f)    the same one for messages of the same f(msg)
//	SmallestMailbox         who has the least to do; pools only
//	Broadcast(which)        all, for those messages that which says
//
// [PreferLocal] makes a group use instances of its own node while there are any.
//
// # What holds
//
//   - Messages of one sender to one routee stay in order. Between routees there is no
//     order; so use [ConsistentHashing] where messages about one thing must not overtake
//     each other. While the routees change, what belongs together may go to two of them.
//   - A routee that has ended gets nothing any more as soon as the router hears of it; what
//     it was told before is a dead letter of its own, with actor.ErrTerminated.
//   - A group uses instances that can be reached; those on members that do not answer only
//     when there are no others.
//   - A group without instances makes each message a dead letter with [ErrNoRoutees]. It
//     knows what its node knows from its first message on, so there is nothing for it to
//     wait for.
//   - With [ConsistentHashing] about one in n keys moves when an n-th routee comes or goes,
//     and groups of different nodes agree when their listings do.
//
// Routees are supervised by what they are: give Pool a supervised behavior. A function of
// the options that panics fails the router, as any failure does.
//
// # What it costs
//
// One more mailbox on the way: about as much as telling the message twice, without
// allocations. [SmallestMailbox] allocates for each message, as it hears what becomes of
// it.
//
// # Testing
//
// Routees can be testkit probes, registered for the service of a group.
package router
