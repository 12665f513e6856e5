package plan

import "time"

// An input is something that happens to the coordinator.
type Input interface{ input() }

// A token names who waits for a reply.
type Token uint64

func (Recovered) input()      {}
func (ViewChanged) input()    {}
func (Received) input()       {}
func (Submit) input()         {}
func (Remove) input()         {}
func (Drain) input()          {}
func (StartSingleton) input() {}
func (MoveSingleton) input()  {}
func (StopSingleton) input()  {}
func (SourceAnswer) input()   {}
func (withdrawn) input()      {}
func (Tick) input()           {}

func (Reply) effect()      {}
func (Send) effect()       {}
func (SourceCall) effect() {}

type (
	// begun: all facts have been replayed. It comes first, and once.
	Recovered struct{}

	// viewSeen: this is how the cluster stands. Actors, Ready and Draining of its nodes mean
	// nothing; gone are former members of which nobody knows yet that they have stopped.
	ViewChanged struct {
		Nodes []Node
		Gone  []Gone
	}
	// gone is a former member that may run until then; zero: for how long is not known yet.
	Gone struct {
		Name        string
		Incarnation uint64
		Until       time.Time
	}

	Received struct{ Message FromAgent } // an agent has said something

	Submit struct {
		Token Token
		Spec  Spec
	}
	Remove struct {
		Token Token
		Label string
	}
	Drain struct {
		Token       Token
		Node        string
		Incarnation uint64
	} // it leaves: move what it runs
	StartSingleton struct {
		Token Token
		Spec  SingletonSpec
	}
	MoveSingleton struct {
		Token Token
		Label string
	}
	StopSingleton struct {
		Token Token
		Label string
	}

	// What has come of a call of the source of generations.
	SourceAnswer struct {
		Number     uint64
		Generation Generation
		Records    []SourceRecord // of a list
		Err        error
	}
	SourceRecord struct {
		Spec       SingletonSpec
		Owner      string
		Generation Generation
	}

	// withdrawn: the journal does not take the spec of that label, which the last step has
	// accepted. Its node has not been asked for it, and who has submitted it is told.
	withdrawn struct{ label string }

	// passed: the moment has come that next named; or it is just later.
	Tick struct{}
)

// An effect is something for the shell to do, after the facts have been stored.
type Effect interface{ effect() }

type (
	// reply answers who waits: with Decision, Ownership, or nothing but the error.
	Reply struct {
		Token Token
		Value any
		Err   error
	}
	// send tells the agent of a node something: a startRequest, stopRequest or reportRequest.
	Send struct {
		Node        string
		Incarnation uint64
		Msg         any
	}
	// call asks the source of generations.
	SourceCall struct {
		Number uint64
		Op     SourceOp
		Label  string
		Owner  string
		Spec   SingletonSpec
	}
)

type SourceOp uint8

const (
	OpClaimTerm SourceOp = iota
	OpClaimSeq
	OpPutSpec
	OpList
	OpForget
)
