package singleton

import "time"

// Events of the singletons of a node are published on the event stream of its system, by
// the managers there: subscribe with actor.Subscribe[Started] and so on. Each node
// publishes what it knows itself: where the instance runs, that it starts and stops, and
// what becomes of the lease; everywhere, that another node is to host it, or none again.
type (
	// Started says that an instance has started on this node, and takes messages.
	Started struct {
		Name       string
		Generation Generation
	}

	// Stopped says that an instance on this node has ended, also one that has failed while
	// it was starting, of which there was no [Started].
	Stopped struct {
		Name       string
		Generation Generation
		Err        error // its failure; nil when it has stopped
	}

	// HostChanged says that this node knows of another host than before.
	HostChanged struct {
		Name string
		Host string // address of who hosts or is to; "" when nobody can
	}

	// LeaseAcquired says that this node has got the lease of the singleton, under that token.
	LeaseAcquired struct {
		Name  string
		Token uint64
	}

	// LeaseLost says that this node does not hold the lease any more and has not given it
	// back. The instance is stopped at once, if there is one: its [Stopped] follows, unless
	// it was the instance that noticed.
	LeaseLost struct {
		Name   string
		Reason error // what the lease says; [ErrLeaseLost] when the instance noticed first
	}

	// Stuck says that an instance does not end although it has been told to, so that another
	// node has to wait with the next one: a handler of it does not return. It is published
	// on the node where it is, when [StopTimeout] is over, and on the one that waits. When
	// the margin for removed nodes is over as well, or at once where a journal fences its
	// writes, the instance counts as ended, and another may start, beside it perhaps. None
	// starts on its own node before it has ended.
	Stuck struct {
		Name  string
		Host  string    // address of where it is
		Since time.Time // when it was told to stop
		Until time.Time // when it is given up
	}

	// Retired says that this node has heard that the singleton has [Finished]: no instance
	// starts any more. A node that hears of it later, as one that joins, says so then.
	Retired struct{ Name string }

	// Dropped says that a message became a dead letter on this node, as there was no room
	// for it. It comes beside the actor.DeadLetter, which does not name the singleton.
	Dropped struct {
		Name    string
		Message any
		Reason  error
	}

	// Refused says on the node where a message was told that no instance has handled it, and
	// none will, with [AtLeastOnce]: it cannot be encoded, or decoded by the host, is of a type
	// that the instance does not take, instances have failed at it ([ErrGivenUp]), or a stash had no room
	// ([actor.ErrStashFull]). The actor.DeadLetter is on the node where that was found. A host
	// that ends before it could say so leaves the message to the next one.
	Refused struct {
		Name    string
		Message any
		Reason  error
	}
)
