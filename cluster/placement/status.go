package placement

import "time"

// A State is what is going on with a spec.
type State string

const (
	// Running means that its actor runs.
	Running State = "running"
	// Pending means that its actor is being started, or stopped in order to be moved.
	Pending State = "pending"
	// WaitingForReturn means that its node is gone, and expected back.
	WaitingForReturn State = "waiting for return"
	// Unplaced means that no node is eligible, or that the last attempt failed and the next
	// one is still to come.
	Unplaced State = "unplaced"
)

// A Status says how a spec is doing.
type Status struct {
	_           struct{} `cbor:",toarray"`
	Spec        Spec
	State       State
	Node        string    // where it runs, is being started, or is expected back; "" when unplaced
	Since       time.Time // of State, as this coordinator knows it
	Attempts    int       // starts that have failed, and ends that nobody asked for, since it ran well; 0 while it runs
	LastError   string    // of the last of them; "" while it runs
	NextAttempt time.Time // when the next start or the next placement is due; zero when nothing but the cluster can change it
}

// An Explanation says why an actor is where it is, or why it is nowhere.
type Explanation struct {
	_          struct{} `cbor:",toarray"`
	Status     Status
	Awaited    string      // what a node is doing about it, and since when: "spawning on n2 since …"; "" when it runs, or is nowhere
	Decision   Decision    // the last; zero when it has never been placed by this coordinator
	Candidates []Candidate // how the nodes would do if it were placed now
	Error      string      // why none could be chosen now; "" when one could
}
