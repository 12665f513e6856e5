package downing

import (
	"fmt"
	"slices"
	"time"
)

// KeepMajority keeps the side with more than half of the members. Of two equal halves it keeps
// the one with the lowest address. The other side downs itself. The zero value is ready to use.
//
// It suits most clusters, above all those whose size changes. If a cluster splits into three or
// more parts, each smaller than half, all of them end. The cluster also ends if half of the
// members crash at once, and the member with the lowest address is among them.
//
// Members that are joining do not count. But a member that one side sees joining may be up for
// the other side, and a member that is leaving here may be removed there. If the other side
// could therefore believe that it has the majority, this side downs itself, so that at most one
// side continues. One gap remains: if a member is being taken down while the network splits,
// two sides can count differently, and both continue until they meet again.
//
// The rule and its caution are the same as in the split brain resolvers of Akka and Pekko.
type KeepMajority struct {
	// StableAfter is how long the situation must not have changed before the strategy decides.
	// It should exceed the time within which all members notice the same split. 0 is what suits
	// the detector of the node (Config.Detector of package cluster), [DefaultStableAfter] with
	// LAN.
	StableAfter time.Duration

	// Role restricts the vote to members that have it; empty means all members. If no member
	// has the role, every side of a split downs itself.
	Role string

	// KeepUnstable makes a side wait indefinitely while reachability keeps changing. Without it
	// a side downs itself if the situation has been unstable for StableAfter plus 3/4 of it, at
	// least StableAfter + 4 s. For the majority, that time starts again with each member that
	// is lost for the first or the second time.
	KeepUnstable bool
}

// OrStableAfter returns k with d as its StableAfter, unless StableAfter is set already.
func (k KeepMajority) OrStableAfter(d time.Duration) Strategy {
	k.StableAfter = orDefault(k.StableAfter, d)
	return k
}

// Delay returns how long the situation must not have changed.
func (k KeepMajority) Delay() time.Duration { return orDefault(k.StableAfter, DefaultStableAfter) }

// Skew returns 0: all sides decide after the same time.
func (k KeepMajority) Skew() time.Duration { return 0 }

// String returns the name and the effective settings. Two nodes that agree have equal strings.
func (k KeepMajority) String() string {
	return fmt.Sprintf("keep-majority(stable-after=%v, role=%q, keep-unstable=%v)", k.Delay(), k.Role, k.KeepUnstable)
}

// Decide implements [Strategy].
func (k KeepMajority) Decide(s Situation) Decision {
	of := electorate{k.Role}
	c := policy{after: k.Delay(), keepUnstable: k.KeepUnstable, spared: noMember}
	return c.decide(s, func(here, there []Member) (verdict, string) {
		switch {
		case !slices.ContainsFunc(s.Members, of.votes):
			return downSelf, fmt.Sprintf("no member has the role %q", k.Role)
		case !majority(here, there, of.votes, of.votes):
			return downSelf, minority(len(here) + len(there))
		case !majority(here, there, of.surely, of.possibly):
			return downSelf, "the other side may believe that it is the majority"
		}
		return survive, "this side is the majority"
	})
}

func minority(members int) string {
	if members == 2 {
		return "this side is not the majority: of two nodes, the one with the lowest address is; " +
			"start a third node, or let downing.LeaseMajority decide, to survive the crash of either"
	}
	return "this side is not the majority"
}
