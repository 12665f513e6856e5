package plan

import (
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

type (
	Submit struct {
		Token home.Token
		Spec  Spec
		until time.Time // when it is answered at the latest; zero before it was held for a node
	}
	Remove struct {
		Token home.Token
		Label string
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
	withdrawn struct{ fact home.Fact }
)

func (Submit) IsInput()         {}
func (Remove) IsInput()         {}
func (StartSingleton) IsInput() {}
func (MoveSingleton) IsInput()  {}
func (StopSingleton) IsInput()  {}
func (TermClaimed) IsInput()    {}
func (withdrawn) IsInput()      {}

// ClaimTerm claims a term above the floor from the source of generations. A [TermClaimed] of the
// same number is expected.
type ClaimTerm struct {
	Number uint64
	Label  string
	Owner  string
	Floor  uint64
}

// IsEffect implements [Effect].
func (ClaimTerm) IsEffect() {}
