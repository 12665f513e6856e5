// Package singleton runs one instance of an actor in a whole cluster, and brings
// messages from every node to it.
//
//	ref := actor.Spawn(node, behaviors.Singleton(newCoordinator), "coordinator")
//	ref.Tell(ProcessJob{JobID: "1"})
//
// Spawn it under the same name, with the same options, on every node that may host it or
// that sends to it. Each node gets a manager; of the instances that their factories can
// make, one runs. Without a cluster it runs right where it is spawned, so it can be
// tested like any other actor.
//
// # What is guaranteed
//
//   - Of the members of a cluster one at most runs an instance: the next one starts when
//     the former has ended, PostStop and deferred functions included. With [WithLease] that
//     holds whatever the members believe.
//   - A node that is joining starts none. A join moves a running instance only where the
//     cluster elects by something else than age, and never with [OnOldest] or [OnNode].
//   - When Spawn has returned on the member that is first among those that may host, no
//     other gets permission to start an instance. One that runs already moves there.
//   - An instance that fails or stops by itself is started again in place, after a
//     backoff. That its factory panics is a failure too. Only [Finished] and [Finish] end
//     it for good.
//   - Generations strictly grow, over all instances that the members have ever run. Those
//     of event-sourced instances, and with [WithLease] or [WithGenerations], go on growing
//     when all nodes have been stopped.
//   - A message is handled by one instance, once at most; with [AtLeastOnce] at least once,
//     as long as the process lives on which it was told.
//   - What the actors of one node tell arrives in the order in which they told it, moves
//     of the instance included.
//   - In a graceful move no message is lost, within the bounds of the buffers.
//   - What is not handled is a dead letter with its reason, on the node that finds out.
//     What was on the wire or in a mailbox when a process died is gone with it.
//
// # The life of a hand-over
//
// The host is the first member in the cluster's order of election that is up, has the
// role, and has a manager; or the oldest of them with [OnOldest], the one of a name with
// [OnNode], or whom a function chooses with [OnElected]. A manager that stops by itself, while its node goes on, gives its singleton
// away, until it is spawned again. Each manager finds the host in its own view of the
// cluster and is in one of eight phases:
//
//	Pending      nobody can host, as far as this node knows, or it does not fit
//	Standby      another node hosts
//	Asking       this node is to host, and asks the members for permission
//	Acquiring    it has permission, and asks for the lease or for a term
//	Host         the instance is here, or is about to be started again
//	HandingOver  the instance has been told to stop, as another node has asked
//	Stopping     the same, as this node is down or has lost the lease
//	Ended        the singleton has finished, see [Finished]
//
// A node that is to host asks every member that may run an instance. Who runs none
// answers at once; who runs one stops it, and answers when it has ended. An answer is a
// promise: to start nothing without asking in turn, and to count the term that was asked
// for as used. Asks are numbered, sent again until they are answered, and void when
// another view names another host. While two nodes both believe to be the host neither
// answers the other; so nothing starts before their views agree. A node counts its own
// manager as soon as it has been spawned, before any view shows it.
//
// A member that has crashed cannot answer. It is waited for until the cluster has removed
// it, and if nothing is known of its end, for the margin after that: it may be alive, cut
// off, and just about to notice; see [RemovalMargin]. Instances that fence their writes
// by a journal, as event-sourced ones do, need no margin, and neither do those with a
// lease.
//
// A lease is asked for after permission, and given back after the instance has ended and
// before anybody else gets permission. When it is lost the instance may handle nothing
// more; the node asks for it again after [LeaseRetry].
//
// In an idle cluster a graceful move takes two round trips; a failover takes detection,
// downing and the margin, or what is left of the lease. [Drain] is how a node that leaves
// hands over what it hosts.
//
// # What becomes of a message
//
// It goes to the instance, wherever that is. While there is none, or its host cannot be
// reached, it is held, see [Buffer]. A message that comes to a node that does not host
// goes back to the node where it was told, and on to the host, in order. These become
// dead letters:
//
//	[ErrBufferFull]       there was no room to hold it; the oldest gives way
//	[ErrLeaseLost]        it was in the mailbox of an instance whose lease was lost
//	[ErrFinished]         the singleton has finished
//	[ErrMismatch]         the node's singleton of that name is another one
//	[ErrManagerStopped]   the manager has ended; what other nodes have sent goes back to them
//	[ErrGivenUp]          ten instances have failed at it, with [AtLeastOnce]
//	actor.ErrTerminated   it was in the mailbox of an instance that failed, stopped by
//	                      itself, or did not stop in time
//	actor.ErrNotSerializable  its type has no name for the wire; on the host's own node it
//	                      needs none
//	actor.ErrUnreachable  it was on its way to a host that has died; see package remote
//
// An [actor.Ask] whose context ends while the question is held wraps [ErrUnavailable], with
// what its node knows of the reason. Replies do not take the way of messages: a ref inside
// a message leads straight to its actor.
//
// docs/singleton.md has a table of all situations, with what [AtLeastOnce] changes and the
// test of each.
//
// # Generations and fencing
//
// Every instance has a [Generation], which [GenerationOf] finds in its context. Send it
// along with whatever the instance does to the outside, and let the outside refuse what
// is lower than the highest it has seen: the examples have a service behind HTTP and a row
// of a database that do. That is what keeps an instance harmless that was paused or cut
// off and does not know that it has a successor: no protocol between members can do that,
// and no lease. An instance that is refused fails with [ErrFenced]; it is stopped, and its
// node asks again before it starts another.
//
// The journal does the same for event-sourced instances by itself. They claim their
// events by the packed generation: each is stored under the number that [GenerationOf]
// returns where it was written, and when the journal has come further than the cluster
// knows, that number is what the instance goes on with. Of several persistence ids in one
// instance the one that is furthest decides.
//
// # Settings
//
//	Role             ""      which nodes may host; all when empty
//	OnLeader, OnOldest,      which of them is preferred; the first in the order of
//	  OnNode, OnElected      election by default
//	Buffer           1000    messages that each node holds, and the host for each node
//	AtLeastOnce      off     messages that may be under way from each node
//	StopMessage      none    how to ask an instance to stop; without one it is stopped
//	                         when it has handled what it had been told
//	StopTimeout      10 s    then it is stopped after the message it is at, and else [Stuck]
//	RestartBackoff   100 ms  doubling up to 4 s, with jitter
//	RemovalMargin    as the cluster recommends
//	WithLease        none    what must be held for an instance to run
//	LeaseRetry       5 s     until a lease that was not got is asked for again
//	WithGenerations  none    where terms come from; by default members agree on them
//
// # To see it
//
// [StatusOf] tells where the instance is, since when, under which generation, how many
// messages wait, and what for. [Started], [Stopped], [HostChanged], [LeaseAcquired],
// [LeaseLost], [Retired], [Stuck], [Dropped] and [Refused] are published on the event stream of each node's
// system.
//
// # What is not guaranteed
//
//   - That there is an instance at every moment. It has ended before the next one
//     starts, and one that never stops is waited for.
//   - That there are never two, without a lease: a node that has been removed without a
//     sign of its end may run its instance longer than the margin, when its process was
//     paused for instance. Fence what matters.
//   - That a stale instance does nothing, with or without a lease: see above.
//   - That terms survive the cluster by themselves. When all members have been stopped
//     they begin again, where there is no journal, lease or source.
//   - Order across nodes, and across a former host that could not be reached.
//   - That a message that was told is handled, when processes die. What must not be lost
//     is to be acknowledged by the instance and told again.
//   - Anything, when nodes give different options to the same singleton. The message
//     type, the role, the anchor, the type of the stop message, and whether there is a
//     lease, a source of generations and AtLeastOnce are compared: the oldest member that is
//     up is right, and who differs takes no part. Names of leases cannot be compared. While
//     who differs in the role is not known yet to the others, each may run an instance for a
//     moment.
//
// # Testing
//
// Test the behavior by itself first; a singleton adds nothing to it but the restarts.
// With testkit.Census a test counts the instances that run, and their peak. Leases of
// lease.NewMemory fail on demand. Package testkit/clustertest runs whole clusters in one
// process, in virtual time.
package singleton
