package plan

import "time"

// An Input is something that happens to the coordinator.
type Input interface{ input() }

// A Token identifies a request of a client.
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
func (Moved) effect()      {}

type (
	// Recovered: all facts have been replayed. It is the first input, and occurs once.
	Recovered struct{}

	// ViewChanged has the whole state of the cluster. Actors, Ready and Draining of its nodes are
	// ignored. Gone are former members that may still be running.
	ViewChanged struct {
		Nodes []Node
		Gone  []Gone
	}
	// Gone is a former member that may still be running until a time; zero means that the time is
	// not known yet.
	Gone struct {
		Name        string
		Incarnation uint64
		Until       time.Time
	}

	// Received has a message of an agent.
	Received struct{ Message FromAgent }

	Submit struct {
		Token Token
		Spec  Spec
	}
	Remove struct {
		Token Token
		Label string
	}
	// Drain: the node is leaving, so its actors are moved away.
	Drain struct {
		Token       Token
		Node        string
		Incarnation uint64
	}
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

	// SourceAnswer is the answer to a [SourceCall].
	SourceAnswer struct {
		Number     uint64
		Generation Generation
		Records    []SourceRecord // for OpList
		Err        error
	}
	// SourceRecord is a singleton in the list of the source.
	SourceRecord struct {
		Spec       SingletonSpec
		Owner      string
		Generation Generation
	}

	// withdrawn: the journal rejects the spec of that label, which the last step has accepted. The
	// request has not been sent to its node.
	withdrawn struct{ label string }

	// Tick: it is the time that Next has returned, or later.
	Tick struct{}
)

// An Effect is something for the coordinator to do after the facts have been stored.
type Effect interface{ effect() }

type (
	// Reply answers a request with a Decision, with an Ownership, or only with an error, which may
	// be nil.
	Reply struct {
		Token Token
		Value any
		Err   error
	}
	// Send sends a StartRequest, StopRequest or ReportRequest to the agent of a node.
	Send struct {
		Node        string
		Incarnation uint64
		Msg         any
	}
	// SourceCall calls the source of generations. A [SourceAnswer] of the same number is expected.
	SourceCall struct {
		Number uint64
		Op     SourceOp
		Label  string
		Owner  string
		Floor  uint64 // the term that ClaimTerm must exceed
		Spec   SingletonSpec
	}
	// Moved reports that an actor that had to be started anew runs again, perhaps on the same node,
	// or that the attempt has failed. It asks for nothing.
	Moved struct {
		Label    string
		Request  RequestID // that started it
		From, To string    // nodes
		Cause    Cause
		Began    time.Time // when it ended on the node From, or when the attempt before this one failed
		Error    string    // why it does not run on the node To; "" if it does
	}
)

// A SourceOp is a method of generation.Source.
type SourceOp uint8

const (
	// The methods of generation.Source that the planner calls.
	OpClaimTerm SourceOp = iota
	OpClaimSeq
	OpPutSpec
	OpList
	OpForget
)
