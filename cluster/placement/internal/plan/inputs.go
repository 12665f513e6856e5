package plan

import (
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
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
func (TermClaimed) input()    {}
func (withdrawn) input()      {}
func (Tick) input()           {}

// IsEffect implements [Effect].
func (ClaimTerm) IsEffect() {}

type (
	// Recovered: all facts have been replayed. It is the first input, and occurs once.
	Recovered struct{}

	// ViewChanged has the whole state of the cluster. Actors, Ready and Draining of its nodes are
	// ignored. Gone are former members that may still be running.
	ViewChanged struct {
		Nodes []home.Node
		Gone  []home.Gone
	}

	// Received has a message of an agent.
	Received struct{ Message home.FromAgent }

	Submit struct {
		Token home.Token
		Spec  Spec
		until time.Time // when it is answered at the latest; zero before it was held for a node
	}
	Remove struct {
		Token home.Token
		Label string
	}
	// Drain: the node is leaving, so its actors are moved away.
	Drain struct {
		Token       home.Token
		Node        string
		Incarnation uint64
	}
	StartSingleton struct {
		Token home.Token
		Spec  SingletonSpec
	}
	MoveSingleton struct {
		Token home.Token
		Label string
	}
	StopSingleton struct {
		Token home.Token
		Label string
	}

	// TermClaimed is the answer to a [ClaimTerm].
	TermClaimed struct {
		Number uint64
		Term   uint64
		Err    error
	}

	// withdrawn: the journal rejects a fact with a spec, which the last step has accepted. No
	// request to start an actor of it has been sent.
	withdrawn struct{ fact Fact }

	// Tick: it is the time that Next has returned, or later.
	Tick struct{}
)

// ClaimTerm claims a term above the floor from the source of generations. A [TermClaimed] of the
// same number is expected.
type ClaimTerm struct {
	Number uint64
	Label  string
	Owner  string
	Floor  uint64
}
