package plan

import (
	"time"

	"github.com/understudy-go/understudy/cluster/internal/hosting"
)

// An Input is something that happens to the coordinator.
type Input interface{ input() }

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

// IsEffect implements [Effect].
func (SourceCall) IsEffect() {}

type (
	// Recovered: all facts have been replayed. It is the first input, and occurs once.
	Recovered struct{}

	// ViewChanged has the whole state of the cluster. Actors, Ready and Draining of its nodes are
	// ignored. Gone are former members that may still be running.
	ViewChanged struct {
		Nodes []hosting.Node
		Gone  []hosting.Gone
	}

	// Received has a message of an agent.
	Received struct{ Message hosting.FromAgent }

	Submit struct {
		Token hosting.Token
		Spec  Spec
		until time.Time // when it is answered at the latest; zero before it was held for a node
	}
	Remove struct {
		Token hosting.Token
		Label string
	}
	// Drain: the node is leaving, so its actors are moved away.
	Drain struct {
		Token       hosting.Token
		Node        string
		Incarnation uint64
	}
	StartSingleton struct {
		Token hosting.Token
		Spec  SingletonSpec
	}
	MoveSingleton struct {
		Token hosting.Token
		Label string
	}
	StopSingleton struct {
		Token hosting.Token
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

type (
	// SourceCall calls the source of generations. A [SourceAnswer] of the same number is expected.
	SourceCall struct {
		Number uint64
		Op     SourceOp
		Label  string
		Owner  string
		Floor  uint64 // the term that ClaimTerm must exceed
		Spec   SingletonSpec
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
