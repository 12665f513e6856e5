package downing

import (
	"fmt"
	"slices"
	"time"
)

// KeepMajority keeps the side with more than half of the members; of two equal halves the
// one with the lowest address. The other side downs itself. The zero value is ready.
//
// It suits most clusters, above all those whose size changes. When a cluster falls into
// three parts or more, each smaller than half, all of them end; so it does when half of
// the members crash at once, and the one with the lowest address is among them.
//
// Members that are joining do not count. But a member that one side still sees joining
// may be up for the other, and one that is leaving here may be gone there: if that could
// make the other side believe in its own majority, this one downs itself, so that not
// both go on. There is one gap: when a member is being taken down while the network
// splits, two sides can count differently, and both go on until they meet again.
//
// The rule, with its caution, is that of Akka's and Pekko's split brain resolver.
type KeepMajority struct {
	// StableAfter is how long the situation must not have changed; it should exceed the
	// time within which all members notice the same split. 0 is what suits the detector of
	// the node (Config.Detector of package cluster), [DefaultStableAfter] with LAN.
	StableAfter time.Duration

	// Role restricts the vote to members that have it; empty is everyone. If nobody has
	// it, every side of a split downs itself.
	Role string

	// KeepUnstable bears it when who is reachable keeps changing. Otherwise a side downs
	// itself when it has not come to rest for StableAfter and 3/4 of that again, at least
	// 4 seconds; one that is the majority begins to count anew with each member that is
	// lost for the first time, or for the second.
	KeepUnstable bool
}

// OrStableAfter returns k, with d for StableAfter unless that is set.
func (k KeepMajority) OrStableAfter(d time.Duration) Strategy {
	k.StableAfter = orDefault(k.StableAfter, d)
	return k
}

// Delay returns the time that must pass without a change.
func (k KeepMajority) Delay() time.Duration { return orDefault(k.StableAfter, DefaultStableAfter) }

// Skew is none: all sides decide after the same time.
func (k KeepMajority) Skew() time.Duration { return 0 }

// String returns the settings that count, defaults included: equal on two nodes that agree.
func (k KeepMajority) String() string {
	return fmt.Sprintf("keep-majority(stable-after=%v, role=%q, keep-unstable=%v)", k.Delay(), k.Role, k.KeepUnstable)
}

// Decide implements [Strategy].
func (k KeepMajority) Decide(s Situation) Decision {
	of := electorate{k.Role}
	c := conduct{after: k.Delay(), keepUnstable: k.KeepUnstable, spared: nobody}
	return c.decide(s, func(here, there []Member) (verdict, string) {
		switch {
		case !slices.ContainsFunc(s.Members, of.votes):
			return yield, fmt.Sprintf("no member has the role %q", k.Role)
		case !majority(here, there, of.votes, of.votes):
			return yield, "this side is not the majority"
		case !majority(here, there, of.surely, of.possibly):
			return yield, "the other side may believe that it is the majority"
		}
		return goOn, "this side is the majority"
	})
}
