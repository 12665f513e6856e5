package downing

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// KeepReferee keeps the side of one particular member, the referee. All other sides down
// themselves.
//
// It suits clusters that cannot work without one particular node, or in which the host of that
// node defines what a split means, such as the database host. It is the simplest rule: sides of
// any size continue or end, and no side can miscount. In exchange the referee is a single point
// of failure: when it is down, or restarts slowly, the cluster ends.
//
// The rule is the same as keep-referee in Akka.NET and in Lightbend's earlier split brain
// resolvers.
type KeepReferee struct {
	// Name is the name of the referee: its cluster.Config.NodeID, which is its address unless
	// it is set. Name is required.
	Name string

	// Quorum is the number of members, including the referee, that the side of the referee
	// needs to continue. If it has fewer, all members go down. Members that are joining do not
	// count. 0 is 1.
	Quorum int

	// StableAfter is how long the situation must not have changed before the strategy decides.
	// 0 is what suits the detector of the node (Config.Detector of package cluster),
	// [DefaultStableAfter] with LAN.
	StableAfter time.Duration

	// KeepUnstable makes a side wait indefinitely while reachability keeps changing; see
	// [KeepMajority].
	KeepUnstable bool
}

// Validate returns an error if Name is not set.
func (k KeepReferee) Validate() error {
	if k.Name == "" {
		return errors.New("downing: KeepReferee.Name must be set: to the NodeID of one member, or its address if it has none")
	}
	return nil
}

// OrStableAfter returns k with d as its StableAfter, unless StableAfter is set already.
func (k KeepReferee) OrStableAfter(d time.Duration) Strategy {
	k.StableAfter = orDefault(k.StableAfter, d)
	return k
}

// Delay returns how long the situation must not have changed.
func (k KeepReferee) Delay() time.Duration { return orDefault(k.StableAfter, DefaultStableAfter) }

// Skew returns 0: all sides decide after the same time.
func (k KeepReferee) Skew() time.Duration { return 0 }

// String returns the name and the effective settings. Two nodes that agree have equal strings.
func (k KeepReferee) String() string {
	return fmt.Sprintf("keep-referee(name=%q, quorum=%d, stable-after=%v, keep-unstable=%v)", k.Name, max(k.Quorum, 1), k.Delay(), k.KeepUnstable)
}

// Decide implements [Strategy].
func (k KeepReferee) Decide(s Situation) Decision {
	of := electorate{}
	referee := func(m Member) bool { return m.Name == k.Name && of.votes(m) }
	c := policy{after: k.Delay(), keepUnstable: k.KeepUnstable, spared: referee}
	return c.decide(s, func(here, _ []Member) (verdict, string) {
		us := count(here, of.votes)
		switch {
		case !slices.ContainsFunc(here, referee):
			return downSelf, fmt.Sprintf("the referee %q is not on this side", k.Name)
		case us < k.Quorum:
			return downSelf, fmt.Sprintf("the referee's side has %d members of a quorum of %d", us, k.Quorum)
		}
		return survive, fmt.Sprintf("the referee %q is on this side", k.Name)
	})
}
