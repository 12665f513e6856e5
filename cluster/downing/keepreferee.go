package downing

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// KeepReferee keeps the side of one particular member. All others down themselves.
//
// It suits clusters with one node without which nothing works anyway, or whose host
// decides what a split means, such as that of the database. It is the simplest rule:
// sides of any size go on or end, and nobody counts wrongly. In exchange the referee is a
// single point of failure: when it is down, or restarted slowly, the cluster ends.
//
// The rule is that of the split brain resolvers of Lightbend's earlier products and of
// Akka.NET, where it is called keep-referee.
type KeepReferee struct {
	// Name is that of the referee: its cluster.Config.NodeID, which is its address unless
	// it is set. It must be set.
	Name string

	// Quorum is how many members its side needs, the referee included, for the side to go
	// on; if it has fewer, everybody goes down. 0 is 1. Members that are joining do not
	// count.
	Quorum int

	// StableAfter is how long the situation must not have changed. 0 is what suits the
	// detector of the node (Config.Detector of package cluster), [DefaultStableAfter] with LAN.
	StableAfter time.Duration

	// KeepUnstable is as in [KeepMajority].
	KeepUnstable bool
}

// Validate says what is wrong with the settings.
func (k KeepReferee) Validate() error {
	if k.Name == "" {
		return errors.New("downing: KeepReferee.Name must be set: to the NodeID of one member, or its address if it has none")
	}
	return nil
}

// OrStableAfter returns k, with d for StableAfter unless that is set.
func (k KeepReferee) OrStableAfter(d time.Duration) Strategy {
	k.StableAfter = orDefault(k.StableAfter, d)
	return k
}

// Delay returns the time that must pass without a change.
func (k KeepReferee) Delay() time.Duration { return orDefault(k.StableAfter, DefaultStableAfter) }

// Skew is none: all sides decide after the same time.
func (k KeepReferee) Skew() time.Duration { return 0 }

// String returns the settings that count, defaults included: equal on two nodes that agree.
func (k KeepReferee) String() string {
	return fmt.Sprintf("keep-referee(name=%q, quorum=%d, stable-after=%v, keep-unstable=%v)", k.Name, max(k.Quorum, 1), k.Delay(), k.KeepUnstable)
}

// Decide implements [Strategy].
func (k KeepReferee) Decide(s Situation) Decision {
	of := electorate{}
	referee := func(m Member) bool { return m.Name == k.Name && of.votes(m) }
	c := conduct{after: k.Delay(), keepUnstable: k.KeepUnstable, spared: referee}
	return c.decide(s, func(here, _ []Member) (verdict, string) {
		us := count(here, of.votes)
		switch {
		case !slices.ContainsFunc(here, referee):
			return yield, fmt.Sprintf("the referee %q is not on this side", k.Name)
		case us < k.Quorum:
			return yield, fmt.Sprintf("the referee's side has %d members of a quorum of %d", us, k.Quorum)
		}
		return goOn, fmt.Sprintf("the referee %q is on this side", k.Name)
	})
}
