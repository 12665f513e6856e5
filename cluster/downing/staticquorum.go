package downing

import (
	"errors"
	"fmt"
	"time"
)

// StaticQuorum keeps the side that has at least so many members as configured. The other
// side downs itself.
//
// It suits clusters of a fixed size, of which it says what KeepMajority does not: at most
// one side goes on even when a member is being taken down in the moment of the split, and
// members that have left do not make fewer ones a majority. In exchange the cluster ends
// when fewer than Size can reach each other, and it must never have more than 2·Size-1
// members: then two sides could both have enough, so when somebody is unreachable, all
// sides down themselves. Members that are joining do not count.
//
// The rule is that of Akka's and Pekko's split brain resolver.
type StaticQuorum struct {
	// Size is how many members a side needs. It must be set, to more than half of all.
	Size int

	// Role restricts the count to members that have it; empty is everyone.
	Role string

	// StableAfter is how long the situation must not have changed. 0 is what suits the
	// detector of the node (Config.Detector of package cluster), [DefaultStableAfter] with LAN.
	StableAfter time.Duration

	// KeepUnstable is as in [KeepMajority].
	KeepUnstable bool
}

// Validate says what is wrong with the settings.
func (q StaticQuorum) Validate() error {
	if q.Size < 1 {
		return errors.New("downing: StaticQuorum.Size must be set: to more than half of the members that there will ever be")
	}
	return nil
}

// OrStableAfter returns q, with d for StableAfter unless that is set.
func (q StaticQuorum) OrStableAfter(d time.Duration) Strategy {
	q.StableAfter = orDefault(q.StableAfter, d)
	return q
}

// Delay returns the time that must pass without a change.
func (q StaticQuorum) Delay() time.Duration { return orDefault(q.StableAfter, DefaultStableAfter) }

// Skew is none: all sides decide after the same time.
func (q StaticQuorum) Skew() time.Duration { return 0 }

// String returns the settings that count, defaults included: equal on two nodes that agree.
func (q StaticQuorum) String() string {
	return fmt.Sprintf("static-quorum(size=%d, stable-after=%v, role=%q, keep-unstable=%v)", q.Size, q.Delay(), q.Role, q.KeepUnstable)
}

// Decide implements [Strategy].
func (q StaticQuorum) Decide(s Situation) Decision {
	of := electorate{q.Role}
	c := conduct{after: q.Delay(), keepUnstable: q.KeepUnstable, spared: nobody}
	return c.decide(s, func(here, there []Member) (verdict, string) {
		us, them := count(here, of.votes), count(there, of.votes)
		switch {
		case us+them > 2*q.Size-1:
			return yield, fmt.Sprintf("there are %d members, and two sides could have a quorum of %d; raise StaticQuorum.Size", us+them, q.Size)
		case us < q.Size:
			return yield, fmt.Sprintf("this side has %d members of a quorum of %d", us, q.Size)
		}
		return goOn, fmt.Sprintf("this side has a quorum of %d", q.Size)
	})
}
