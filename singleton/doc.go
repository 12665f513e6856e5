// Package singleton runs one actor of a kind in a whole cluster, at most one at a time, and
// delivers messages to it from every node.
//
//	ref := actor.Spawn(node, behaviors.Singleton(newCoordinator), "coordinator")
//	ref.Tell(ProcessJob{JobID: "1"})
//
// Spawn it under the same name, with the same options, on every node that may host it or
// that sends to it. Each node gets a manager, and at most one of the managers runs an
// instance. Without a cluster the instance runs where it is spawned, so it can be tested
// like any other actor. A node or client that only sends may use [Ref] instead.
//
// # What is guaranteed
//
//   - At most one member of a cluster runs an instance. The next one starts after the former
//     has ended, including PostStop and deferred functions. With [WithLease] this holds even
//     when the members disagree about the cluster. The exception is an instance whose handler
//     does not return, see [StopTimeout].
//   - A joining node starts no instance. A join moves a running instance only if the cluster
//     elects its leader by something other than age, and never with [OnOldest] or [OnNode].
//   - The host is the first, in the order of election, of the members that may host and have
//     spawned the singleton. Once Spawn has returned on that member, it lets no other member
//     start an instance. If an instance runs on another member already, it moves to the host.
//   - An instance that fails or stops by itself is restarted in place after a backoff. A
//     panic of the factory counts as a failure. Only [Finish] ends a singleton for good.
//   - Generations strictly increase over all instances that the members have ever run. They
//     continue to increase after all nodes have been stopped if the instance is
//     event-sourced, or with [WithLease] or [WithGenerations].
//   - A message is handled at most once, by one instance. With [AtLeastOnce] it is handled at
//     least once, provided that the process of the sending node does not end.
//   - Messages from the actors of one node arrive in the order in which they were sent, also
//     while the instance moves.
//   - A graceful move loses no message, as long as the buffers have room.
//   - A message that is not handled becomes a dead letter with a reason, on the node that
//     finds out. Messages on the wire or in a mailbox are lost when their process dies.
//
// # The life of a hand-over
//
// The host is the first member in the cluster's order of election that is up, has the role,
// and has a manager. [OnOldest] selects the oldest such member, [OnNode] the one with a given
// name, and [OnElected] the one that a function chooses. If a manager stops while its node
// keeps running, another node becomes the host until the manager is spawned again. Each
// manager determines the host from its own view of the cluster, and is in one of eight
// phases:
//
//	Pending      as far as this node knows, no node can host; or this node is down, has
//	             other settings, or has a stuck instance that was given up
//	Standby      another node hosts
//	Asking       this node is to host, and asks the other members for permission
//	Acquiring    this node has permission, and acquires the lease or a term
//	Host         the instance is here, or is about to be restarted
//	HandingOver  the instance is stopping because another node has asked to host
//	Stopping     the instance is stopping because this node is down, has lost the lease, or has
//	             learned after a split that another instance has claimed the journal later
//	Ended        the singleton has finished, see [Finish]
//
// A node that is to host sends a request to every member that may run an instance. A member
// without an instance grants it at once. A member with an instance stops it first, and grants
// the request when the instance has ended. A grant is a promise: its sender starts no
// instance without asking in turn, and counts the requested term as used. Requests are
// numbered and repeated until they are granted. They become void when the view names another
// host. While two nodes each consider themselves the host, neither grants the other's
// request, so nothing starts until their views agree. A node counts its own manager from the
// moment it is spawned, before any view shows it.
//
// A member that has crashed cannot answer. The others wait until the cluster has removed it.
// If there was no sign that it has ended, they also wait for the margin, because it may be
// alive and partitioned, and about to notice; see [RemovalMargin]. No margin is needed for
// instances whose writes are fenced, such as event-sourced ones and projections with
// projection.InTx, or for singletons with a lease.
//
// A node acquires the lease after it has permission. It releases the lease after the instance
// has ended and before another node gets permission. When the lease is lost, the instance
// must not handle another message, and the node tries again after [LeaseRetry].
//
// In an idle cluster a graceful move takes two round trips. A failover takes the time for
// failure detection, downing and the margin, or for what is left of the lease. A node that
// leaves with cluster.Node.Leave hands over the instances that it hosts.
//
// # What becomes of a message
//
// A message is sent to the instance, wherever it runs. While there is no instance, or its
// host cannot be reached, the message is buffered; see [Buffer]. A message that reaches a
// node that does not host is returned to the sending node, which sends it to the host, in
// order. The reasons of dead letters are:
//
//	[ErrBufferFull]       there was no room in the buffer; the oldest message is dropped
//	[ErrHeldTooLong]      it waited for longer than [Expire] allows
//	[ErrLeaseLost]        it was in the mailbox of an instance whose lease was lost
//	[ErrFinished]         the singleton has finished
//	[ErrMismatch]         the node's singleton of that name has other settings
//	[ErrManagerStopped]   the manager has ended; messages of other nodes are returned to them
//	[ErrGivenUp]          instances have failed at it, with [AtLeastOnce]; see [Attempts]
//	actor.ErrTerminated   it was in the mailbox of an instance that failed, stopped by
//	                      itself, or did not stop in time
//	actor.ErrWithdrawn    it was the request of an ask that ended while the request waited
//	actor.ErrNotSerializable  its type has no name for the wire; on the host's own node it
//	                      needs none
//	actor.ErrUnreachable  it was on its way to a host that has died; see package remote
//
// An [actor.Ask] whose context ends while its request is buffered returns an error that wraps
// [ErrUnavailable] and gives the reason, as far as its node knows it. Replies do not pass
// through managers: a ref inside a message leads straight to its actor.
//
// docs/singleton.md lists the situations in a table, with what [AtLeastOnce] changes and the
// test of each.
//
// # Generations and fencing
//
// Every instance has a [Generation], which [GenerationOf] returns from its context. Send it with
// everything that the instance writes to the outside, and let the receiver refuse generations lower
// than the highest it has seen. docs/singleton.md shows how. Only this makes an instance harmless
// that was paused or partitioned and does not know that it has been replaced: neither a protocol
// between members nor a lease can. An instance that is refused fails with [ErrFenced]. It is
// stopped, and its node asks for permission again before it starts another.
//
// For event-sourced instances the journal does the same. They claim their events by the packed
// generation, so each event is stored under the number that [GenerationOf] returned where it
// was written. The journal refuses the claim if a later term has claimed it. The node then asks for
// a term above that one, and starts the instance again; see [GenerationOf].
//
// # Settings
//
//	Role             ""      the nodes that may host; all when empty
//	OnLeader, OnOldest,      which of them is preferred; the first in the order of
//	  OnNode, OnElected      election by default
//	Buffer           1000    messages that each node keeps, and the host for each node; at
//	                         most 10 000
//	Expire           none    how long a message may wait for an instance
//	AtLeastOnce      off     the number of messages that may be in flight from each node
//	Attempts         3       how many instances may fail at a message, with AtLeastOnce
//	StopMessage      none    the message that asks an instance to stop; without one the
//	                         instance is stopped when it has handled the messages before
//	StopTimeout      10 s    how long an instance may take to stop; then it is stopped after
//	                         the message that it is handling, or reported as [Stuck]
//	RestartBackoff   100 ms  the delay before a restart; doubles up to 4 s, with jitter
//	RemovalMargin    as the cluster recommends
//	WithLease        none    the lease that must be held for an instance to run; by default
//	                         that of cluster.Config.Leases
//	LeaseRetry       5 s     the delay before another attempt to acquire the lease
//	WithGenerations  none    the journal that counts terms; by default the members agree on them
//
// # Observing a singleton
//
// [StatusOf] reports where the instance runs, since when, under which generation, how many
// messages wait, and why. Each node publishes [Started], [Stopped], [HostChanged],
// [LeaseAcquired], [LeaseLost], [Retired], [Stuck] and [Refused] on the event stream of its
// system.
//
// # What is not guaranteed
//
//   - That an instance runs at every moment. An instance ends before the next one starts, and
//     one that never stops delays the next.
//   - That two never run at once, without a lease. A node that was removed without a sign that
//     it has ended may run its instance for longer than the margin, for example because its
//     process was paused. Fence what matters.
//   - That a stale instance does nothing, with or without a lease: see above.
//   - That terms outlive the cluster. When all members have been stopped, terms start again at
//     1, unless there is a journal or a lease.
//   - Order between messages of different nodes, and between messages sent before and after a
//     host became unreachable.
//   - That a message is handled if processes die. If a message must not be lost, let the
//     instance acknowledge it, and send it again until it does.
//   - Anything, if nodes give different options to the same singleton. Nodes compare the message
//     type, the role, the anchor, the type of the stop message, and whether there is a lease,
//     a journal of generations and AtLeastOnce. The settings of the oldest member that is up count,
//     and a node with others takes no part. Names of leases are not compared. A node that
//     gives another role than the others may run an instance beside theirs, until the nodes
//     have exchanged their settings. docs/upgrades.md says how to change a setting.
//
// # Testing
//
// Test the behavior by itself first; a singleton adds only restarts to it. testkit.Census
// counts the instances that run, and their peak. Leases of lease.NewMemory fail on demand.
// Package testkit/clustertest runs whole clusters in one process, in virtual time.
package singleton
