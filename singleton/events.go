package singleton

import (
	"time"
)

// Events of singletons. The manager on each node publishes them on the event stream of its system:
// subscribe with actor.Subscribe[Started] and so on. A node publishes what happens on it: instances
// start and stop, and leases are acquired and lost. Every node publishes [HostChanged] and
// [Retired].
type (
	// Started is published when an instance has started on this node and takes messages.
	Started struct {
		Name       string
		Generation Generation
	}

	// Stopped is published when an instance on this node has ended. An instance that fails while it
	// starts has a Stopped without a [Started].
	Stopped struct {
		Name       string
		Generation Generation
		Err        error // its failure; nil if it stopped
	}

	// HostChanged is published when this node learns of another host than before.
	HostChanged struct {
		Name string
		Host string // address of the node that hosts or is to host; "" when no node can
	}

	// LeaseAcquired is published when this node has acquired the singleton's lease, with that
	// token.
	LeaseAcquired struct {
		Name  string
		Token uint64
	}

	// LeaseLost is published when this node no longer holds the lease and has not released it. An
	// instance is stopped at once. Its [Stopped] follows, unless the instance noticed the loss
	// itself.
	LeaseLost struct {
		Name   string
		Reason error // as reported by the lease; [ErrLeaseLost] if the instance noticed first
	}

	// Stuck is published when an instance that was told to stop does not end, because one of its
	// handlers does not return. Another node then has to wait with the next instance. Both nodes
	// publish it: the one with the instance half a second after [StopTimeout], and the one that
	// waits.
	//
	// The instance counts as ended after the margin for removed nodes, or at once if a journal
	// fences its writes. Another node may then start an instance beside it. Its own node starts
	// none until it has ended.
	Stuck struct {
		Name  string
		Host  string    // address of its node
		Since time.Time // when it was told to stop
		Until time.Time // when it is given up
	}

	// Retired is published when this node learns that the singleton has finished, see [Finish], so
	// no instance starts any more. A node that joins later publishes it when it learns of that.
	Retired struct{ Name string }

	// Refused is published when a message became a dead letter because the buffer of this node was
	// full ([ErrBufferFull]). It comes in addition to the actor.DeadLetter, which does not name the
	// singleton.
	//
	// With [AtLeastOnce] it is also published on the node where a message was sent when no instance
	// has handled the message and none will. Reasons: it cannot be encoded, or decoded by the host;
	// the instance does not take its type; a stash was full ([actor.ErrStashFull]); it waited too
	// long ([ErrHeldTooLong]); its ask has ended ([actor.ErrWithdrawn]). After [ErrGivenUp], as
	// instances have failed at the message, the node keeps it: see [ListGivenUp].
	//
	// The actor.DeadLetter is published on the node that found the reason. If a host ends before it
	// can report the refusal, the message goes to the next host.
	Refused struct {
		Name    string
		Message any
		Reason  error
	}
)
