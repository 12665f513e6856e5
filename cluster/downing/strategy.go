package downing

import (
	"fmt"
	"slices"
	"time"
)

// A Strategy decides which members are taken down when some cannot be reached. All nodes of a
// cluster must have the same strategy, with the same parameters.
//
// A strategy that can be configured wrongly has a method Validate() error; a node calls it
// before it starts.
type Strategy interface {
	fmt.Stringer // its name and parameters; a node with another string is not admitted

	// Decide returns the members to take down in s, and the reason. The decider of each side
	// calls it again and again while a member is unreachable. A decision without members means
	// to wait.
	Decide(s Situation) Decision

	// Delay returns how long after the last change Decide decides. The expected time of a
	// failover depends on it. A negative value means never.
	Delay() time.Duration

	// Skew returns how much later than the winning side another side may learn that it has
	// lost. A singleton that is not fenced waits that much longer before it starts elsewhere.
	Skew() time.Duration
}

// OrStableAfter returns s with d as its StableAfter, if s has a method
// OrStableAfter(time.Duration) Strategy and no StableAfter of its own. Otherwise it returns s
// unchanged.
func OrStableAfter(s Strategy, d time.Duration) Strategy {
	if x, can := s.(interface {
		OrStableAfter(d time.Duration) Strategy
	}); can {
		return x.OrStableAfter(d)
	}
	return s
}

// A Decision names the members that go down.
type Decision struct {
	Down   []Member // empty if it is too early, or there is nothing to do
	Reason string   // for the log

	// Ask is a request for a lease that must be answered before the strategy decides, if it
	// names a lease. The answer is in the next Situation.
	Ask Ask
}

// A Situation is what a member knows when others are unreachable.
type Situation struct {
	// Members are the members that are neither down nor removed, sorted by address. The decider
	// is among them.
	Members []Member

	// Stable is how long neither the members nor their reachability have changed. A member that
	// leaves or is removed does not count as a change. While another member is unreachable, the
	// changes of joining members do not count either.
	Stable time.Duration

	// Unstable is the time since the current instability began, that is since a member first
	// became unreachable. It is 0 while the situation is stable. The instability ends when all
	// members have been reachable for the strategy's Delay, or when the last unreachable member
	// has been taken down. Members that are joining do not count.
	Unstable time.Duration

	// Spread is the time since a member became unreachable for the first or the second time
	// within Unstable. The second time counts because a failing member may recover once before
	// it dies. Spread is less than Unstable when members are lost one after the other, and
	// about as long when the same members come and go.
	Spread time.Duration

	// Lease is the answer to the request that the strategy has made in this situation.
	Lease Answer
}

// A Member is what a strategy knows about a member.
type Member struct {
	Name        string // as configured; it survives restarts
	Address     string // host:port
	Incarnation uint64 // random; with Address it identifies the process
	UpNumber    uint64 // the order in which members came up; 0 while joining
	Roles       []string
	Joining     bool // it has never been up
	Leaving     bool // it is leaving on its own request
	Self        bool // it is the decider

	// UnreachableBy holds the addresses of the members that do not hear from this one.
	UnreachableBy []string

	// ObservedBy holds the addresses of the members that observe this one. Nil means all
	// members.
	ObservedBy []string
}

// counts reports whether m counts in votes of the members with a role: it has been up, and has
// the role.
func (m Member) counts(role string) bool {
	return !m.Joining && (role == "" || slices.Contains(m.Roles, role))
}

// Manual never takes a member down: an operator must do so, on one side only. Until then
// nothing that ran on an unreachable member runs elsewhere, and no node becomes up. It suits
// systems in which a wrong decision costs more than an outage that lasts until an operator
// acts.
type Manual struct{}

// Decide returns an empty decision: it always waits.
func (Manual) Decide(Situation) Decision { return Decision{} }

// Delay returns -1, which means never.
func (Manual) Delay() time.Duration { return -1 }

// Skew returns 0.
func (Manual) Skew() time.Duration { return 0 }

// String returns "manual", as there are no settings.
func (Manual) String() string { return "manual" }
