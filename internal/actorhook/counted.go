package actorhook

import "time"

// Counted is what a system knows about its own work. [Internals] of a system implements it. Any
// goroutine may call the methods, also after the end of the system; what they return is a copy. The
// numbers are read while actors run, and may differ by what happens meanwhile.
type Counted interface {
	// Kinds returns the counts of all kinds, sorted by name.
	Kinds() []KindCount
	// Backlogs returns what waits in mailboxes. It visits each actor.
	Backlogs() Backlogs
	// AskOutcomes returns how many asks have ended, by outcome, for each outcome that there is.
	AskOutcomes() []AskCount
	// Activity returns what the scheduler does.
	Activity() Activity
	// Waits returns the asks inside handlers that have no reply yet.
	Waits() Waits
}

// An AskCount is how many asks have ended in one way.
type AskCount struct {
	Outcome string
	Count   uint64
}

// An Activity is what the scheduler of a system does at a moment.
type Activity struct {
	Runners int // goroutines that run actors, or look for some
	Ready   int // actors that wait for a runner
	Blocked int // handlers that have announced that they block, or were found to
	Slow    int // handlers that are under way for a second or longer
	Slowest time.Duration

	Handlers []Handler // under way, slowest first, at most 20
}

// A Handler is a handler that is under way.
type Handler struct {
	Path    string
	Kind    string
	Message string        // the message type of the actor
	For     time.Duration // at least; 0 for one that was not under way at the last look
	Blocked bool
}

// Waits are the asks inside handlers that have no reply yet. Asks that do not block their actor are
// not among them.
type Waits struct {
	Count   int        // of all
	Oldest  []Wait     // those that wait for a while, oldest first, at most 20
	Circles [][]string // paths: each waits for the next, and the last for the first; at most 20
}

// A Wait is an ask inside a handler.
type Wait struct {
	Asker, Asked string // paths, with its node if the asked actor is on another one
	For          time.Duration
}
