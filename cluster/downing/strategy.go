package downing

import (
	"fmt"
	"slices"
	"time"
)

// A Strategy decides which members are taken down when some cannot be reached. All nodes
// of a cluster must have the same one, with the same parameters.
//
// One that can be set up wrongly has a method Validate() error; a node asks it before it
// starts.
type Strategy interface {
	fmt.Stringer // names it with its parameters; a node that differs is not let in

	// Decide says whom to take down in s, and why. It is asked again and again while
	// somebody is unreachable, on the decider of each side; a decision without members
	// means to wait.
	Decide(s Situation) Decision

	// Delay is how long after the last change Decide decides. The expected time of a
	// failover is reckoned from it. Negative means never.
	Delay() time.Duration

	// Skew is how much later than the side that goes on another one may learn that it does
	// not. What is not fenced waits for so much longer before it starts elsewhere.
	Skew() time.Duration
}

// OrStableAfter returns s, with d for the time that it waits without a change, if it has a
// method OrStableAfter(time.Duration) Strategy and no time of its own.
func OrStableAfter(s Strategy, d time.Duration) Strategy {
	if x, can := s.(interface {
		OrStableAfter(d time.Duration) Strategy
	}); can {
		return x.OrStableAfter(d)
	}
	return s
}

// A Decision is who goes down.
type Decision struct {
	Down   []Member // nobody while it is too early, or nothing is to be done
	Reason string   // for people

	// Ask, if it names a lease, is a question that must be answered before: the answer is
	// in the next Situation.
	Ask Ask
}

// A Situation is what a member knows when others are unreachable.
type Situation struct {
	// Members are those not down or removed, the decider included, sorted by address.
	Members []Member

	// Stable is how long there has been no change of members or of reachability. That a
	// member leaves or is removed is none; nor is what members do that are joining, while
	// somebody else is unreachable.
	Stable time.Duration

	// Unstable is how long ago somebody first became unreachable, without a time since in
	// which everybody was reachable and nothing changed for as long as the strategy's Delay.
	// Members that are joining do not count.
	Unstable time.Duration

	// Spread is how long ago somebody became unreachable who had not been before in that
	// time, or once only, as who stumbles before it falls: it is less than Unstable when
	// members are lost one after the other, and about as long when the same ones come and go.
	Spread time.Duration

	// Lease is the answer to the question that the strategy has asked in this situation.
	Lease Answer
}

// A Member is what a strategy knows of a member.
type Member struct {
	Name        string // as configured; it survives restarts
	Address     string // host:port
	Incarnation uint64 // random: with Address the identity of the process
	UpNumber    uint64 // the order of age; 0 while joining
	Roles       []string
	Joining     bool // it has never been up
	Leaving     bool // it is on its way out, by itself
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

// Manual never takes anybody down: an operator must, on one side only. Until then nothing
// that ran on an unreachable member runs elsewhere, and no node becomes up. It suits a
// system in which a wrong decision costs more than an outage until somebody is awake.
type Manual struct{}

// Decide waits.
func (Manual) Decide(Situation) Decision { return Decision{} }

// Delay is never.
func (Manual) Delay() time.Duration { return -1 }

// Skew is none.
func (Manual) Skew() time.Duration { return 0 }

// String returns "manual": there are no settings.
func (Manual) String() string { return "manual" }
