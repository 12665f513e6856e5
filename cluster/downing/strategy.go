package downing

import (
	"fmt"
	"slices"
	"time"
)

// A Strategy decides which members are taken down when some cannot be reached. All nodes
// of a cluster must have the same one, with the same parameters.
type Strategy interface {
	fmt.Stringer // names it with its parameters; a node that differs is not let in

	// Decide says whom to take down in s, and why. It is asked again and again while
	// somebody is unreachable, on the decider of each side; a decision without members
	// means to wait.
	Decide(s Situation) Decision

	// Delay is how long after the last change Decide decides. The expected time of a
	// failover is reckoned from it. Negative means never.
	Delay() time.Duration
}

// A Decision is who goes down.
type Decision struct {
	Down   []Member
	Reason string // for people
}

// A Situation is what a member knows when others are unreachable.
type Situation struct {
	// Members are those not down or removed, the decider included, sorted by address.
	Members []Member

	// Stable is how long there has been no change of members or of reachability.
	Stable time.Duration
}

// A Member is what a strategy knows of a member.
type Member struct {
	Address     string
	Incarnation uint64
	UpNumber    uint64 // the order of age; 0 while joining
	Roles       []string
	Joining     bool // not up yet
	Leaving     bool
	Self        bool // it is the decider

	// UnreachableBy are the addresses of the members that do not hear from this one.
	UnreachableBy []string

	// ObservedBy are the addresses of the members that would notice if they did not hear
	// from this one; nil is everybody.
	ObservedBy []string
}

// counts reports whether m counts in votes of the members with a role: it has been up.
func (m Member) counts(role string) bool {
	return !m.Joining && (role == "" || slices.Contains(m.Roles, role))
}

// Manual never takes anybody down: an operator must. Until then nothing that ran on an
// unreachable member runs elsewhere.
type Manual struct{}

// Decide waits.
func (Manual) Decide(Situation) Decision { return Decision{} }

// Delay is never.
func (Manual) Delay() time.Duration { return -1 }

func (Manual) String() string { return "manual" }
