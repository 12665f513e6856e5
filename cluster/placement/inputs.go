package placement

import (
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

type (
	submit struct {
		Token home.Token
		Spec  Spec
		until time.Time // when it is answered at the latest; zero before it was held for a node
	}
	remove struct {
		Token home.Token
		Label string
	}
	startSingleton struct {
		Token home.Token
		Spec  SingletonSpec
	}
	moveSingleton struct {
		Token home.Token
		Label string
	}
	stopSingleton struct {
		Token home.Token
		Label string
	}

	// termClaimed is the answer to a [claimTerm].
	termClaimed struct {
		Number uint64
		Term   uint64
		Err    error
	}

	// withdrawn: the journal rejects a fact with a spec, which the last step has accepted. No
	// request to start an actor of it has been sent.
	withdrawn struct{ fact home.Fact }
)

func (submit) IsInput()         {}
func (remove) IsInput()         {}
func (startSingleton) IsInput() {}
func (moveSingleton) IsInput()  {}
func (stopSingleton) IsInput()  {}
func (termClaimed) IsInput()    {}
func (withdrawn) IsInput()      {}

// claimTerm claims a term above the floor from the source of generations. A [termClaimed] of the
// same number is expected.
type claimTerm struct {
	Number uint64
	Label  string
	Owner  string
	Floor  uint64
}

// IsEffect implements [Effect].
func (claimTerm) IsEffect() {}
