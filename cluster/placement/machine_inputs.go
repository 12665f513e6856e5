package placement

import "time"

// An input is something that happens to the coordinator.
type input interface{ input() }

// A token names who waits for a reply.
type token uint64

func (begun) input()          {}
func (viewSeen) input()       {}
func (heard) input()          {}
func (submit) input()         {}
func (remove) input()         {}
func (drain) input()          {}
func (startSingleton) input() {}
func (moveSingleton) input()  {}
func (stopSingleton) input()  {}
func (sourced) input()        {}
func (withdrawn) input()      {}
func (passed) input()         {}

func (reply) effect() {}
func (send) effect()  {}
func (call) effect()  {}

type (
	// begun: all facts have been replayed. It comes first, and once.
	begun struct{}

	// viewSeen: this is how the cluster stands. Actors, Ready and Draining of its nodes mean
	// nothing; gone are former members of which nobody knows yet that they have stopped.
	viewSeen struct {
		nodes []Node
		gone  []gone
	}
	// gone is a former member that may run until then; zero: for how long is not known yet.
	gone struct {
		name        string
		incarnation uint64
		until       time.Time
	}

	heard struct{ msg fromAgent } // an agent has said something

	submit struct {
		token token
		spec  Spec
	}
	remove struct {
		token token
		label string
	}
	drain struct {
		token       token
		node        string
		incarnation uint64
	} // it leaves: move what it runs
	startSingleton struct {
		token token
		spec  SingletonSpec
	}
	moveSingleton struct {
		token token
		label string
	}
	stopSingleton struct {
		token token
		label string
	}

	// What has come of a call of the source of generations.
	sourced struct {
		call       uint64
		generation Generation
		records    []sourceRecord // of a list
		err        error
	}
	sourceRecord struct {
		spec       SingletonSpec
		owner      string
		generation Generation
	}

	// withdrawn: the journal does not take the spec of that label, which the last step has
	// accepted. Its node has not been asked for it, and who has submitted it is told.
	withdrawn struct{ label string }

	// passed: the moment has come that next named; or it is just later.
	passed struct{}
)

// An effect is something for the shell to do, after the facts have been stored.
type effect interface{ effect() }

type (
	// reply answers who waits: with Decision, Ownership, or nothing but the error.
	reply struct {
		token token
		value any
		err   error
	}
	// send tells the agent of a node something: a startRequest, stopRequest or reportRequest.
	send struct {
		node        string
		incarnation uint64
		msg         any
	}
	// call asks the source of generations.
	call struct {
		call  uint64
		op    sourceOp
		label string
		owner string
		spec  SingletonSpec
	}
)

type sourceOp uint8

const (
	claimTerm sourceOp = iota
	claimSeq
	putSpec
	list
	forget
)

// A fact is what the journal keeps: the record of one spec, in place of the one before;
// nil when it has been removed. Facts say what is, not what has changed: to apply one
// twice is to apply it once. Only the spec itself, which may be large, is in the first fact
// alone: a record without a spec has that of the record before.
type fact struct {
	_      struct{} `cbor:",toarray"`
	Label  string
	Record *record
}

// A record is all that is to survive of a spec.
type record struct {
	_           struct{}  `cbor:",toarray"`
	Spec        Spec      // none when it is that of the record before, or is not needed any more
	Node        string    // where it is, or is expected back; "" when unplaced
	Incarnation uint64    // of that node
	Request     requestID // by which it was started; zero when it is not
	Until       time.Time // until when the node is waited for; zero when it is not
	Drained     bool      // the node is being drained, so that it is not waited for
	Removed     bool      // it is no spec or singleton any more, and is being stopped

	// Where the label is a singleton's, whose spec is in the source: the generation of the last
	// instance; the last that the source has granted, never zero; and the number of the call
	// that changes what the source keeps, until it is known to have happened.
	Generation, Granted Generation
	Call                requestID
}

// ofSingleton reports whether it is about a singleton.
func (f fact) ofSingleton() bool { return f.Record != nil && f.Record.Granted != Generation{} }

// submits reports whether it brings a spec that the journal does not have.
func (f fact) submits() bool { return f.Record != nil && f.Record.Spec.Label != "" }

// size is about how many bytes f has in the journal.
func (f fact) size() int {
	const besides = 256
	if f.Record == nil {
		return len(f.Label) + besides
	}
	return len(f.Label) + len(f.Record.Node) + f.Record.Spec.size() + besides
}

// after returns r with the spec of the record before, if it has none of its own.
func (r record) after(before record) record {
	if r.Spec.Label == "" && !r.Removed && r.Granted == (Generation{}) {
		r.Spec = before.Spec
	}
	return r
}

// sparing returns r as the fact has it that follows the record before.
func (r record) sparing(before record) record {
	if r.Spec.Equal(before.Spec) {
		r.Spec = Spec{}
	}
	return r
}
