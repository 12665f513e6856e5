package downing

import (
	"errors"
	"fmt"
	"time"
)

// StaticQuorum keeps the side that has at least the configured number of members. The other
// side downs itself.
//
// It suits clusters of a fixed size, and there it promises more than KeepMajority. At most one
// side continues, even if a member is being taken down at the moment of the split. Members that
// have left do not turn a smaller number into a majority. In exchange the cluster ends when
// fewer than Size members can reach each other.
//
// The cluster must never have more than 2·Size-1 members, because two sides could then both
// have enough. If it has more and a member is unreachable, all sides down themselves. Members
// that are joining do not count.
//
// The rule is the same as in the split brain resolvers of Akka and Pekko.
type StaticQuorum struct {
	// Size is the number of members that a side needs. It is required, at least 1, and should
	// be more than half of all members that there will ever be.
	Size int

	// Role restricts the count to members that have it; empty means all members.
	Role string

	// StableAfter is how long the situation must not have changed before the strategy decides.
	// 0 is what suits the detector of the node (Config.Detector of package cluster),
	// [DefaultStableAfter] with LAN.
	StableAfter time.Duration

	// KeepUnstable makes a side wait indefinitely while reachability keeps changing; see
	// [KeepMajority].
	KeepUnstable bool
}

// Validate returns an error if Size is less than 1.
func (q StaticQuorum) Validate() error {
	if q.Size < 1 {
		return errors.New("downing: StaticQuorum.Size must be set: to more than half of the members that there will ever be")
	}
	return nil
}

// OrStableAfter returns q with d as its StableAfter, unless StableAfter is set already.
func (q StaticQuorum) OrStableAfter(d time.Duration) Strategy {
	q.StableAfter = orDefault(q.StableAfter, d)
	return q
}

// Delay returns how long the situation must not have changed.
func (q StaticQuorum) Delay() time.Duration { return orDefault(q.StableAfter, DefaultStableAfter) }

// Skew returns 0: all sides decide after the same time.
func (q StaticQuorum) Skew() time.Duration { return 0 }

// String returns the name and the effective settings. Two nodes that agree have equal strings.
func (q StaticQuorum) String() string {
	return fmt.Sprintf("static-quorum(size=%d, stable-after=%v, role=%q, keep-unstable=%v)", q.Size, q.Delay(), q.Role, q.KeepUnstable)
}

// Decide implements [Strategy].
func (q StaticQuorum) Decide(s Situation) Decision {
	of := electorate{q.Role}
	c := policy{after: q.Delay(), keepUnstable: q.KeepUnstable, spared: noMember}
	return c.decide(s, func(here, there []Member) (verdict, string) {
		us, them := count(here, of.votes), count(there, of.votes)
		switch {
		case us+them > 2*q.Size-1:
			return downSelf, fmt.Sprintf("there are %d members, and two sides could have a quorum of %d; raise StaticQuorum.Size", us+them, q.Size)
		case us < q.Size:
			return downSelf, fmt.Sprintf("this side has %d members of a quorum of %d", us, q.Size)
		}
		return survive, fmt.Sprintf("this side has a quorum of %d", q.Size)
	})
}
