package singleton

// Events of the singletons of a node are published on the event stream of its system, by
// the managers there: subscribe with actor.Subscribe[Started] and so on. Each node
// publishes what it knows itself: where the instance runs, that it starts and stops;
// everywhere, that another node is to host it.
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

	// Dropped says that a message became a dead letter on this node, as there was no room
	// for it. It comes beside the actor.DeadLetter, which does not name the singleton.
	Dropped struct {
		Name    string
		Message any
		Reason  error
	}
)
