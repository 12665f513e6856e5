package downing

import (
	"fmt"
	"time"
)

// DownAll ends every side. When a member has been unreachable for long enough, all members go
// down, and those that can form the cluster anew. The zero value is ready to use.
//
// It suits clusters that must never continue with a part of their members, and in which a
// restart is cheap. One crash or one broken link is enough to end the cluster.
//
// The rule is the same as in the split brain resolvers of Akka and Pekko.
type DownAll struct {
	// StableAfter is how long the situation must not have changed before the strategy decides.
	// 0 is what suits the detector of the node (Config.Detector of package cluster),
	// [DefaultStableAfter] with LAN.
	StableAfter time.Duration

	// KeepUnstable makes a side wait indefinitely while reachability keeps changing; see
	// [KeepMajority].
	KeepUnstable bool
}

// OrStableAfter returns d with after as its StableAfter, unless StableAfter is set already.
func (d DownAll) OrStableAfter(after time.Duration) Strategy {
	d.StableAfter = orDefault(d.StableAfter, after)
	return d
}

// Delay returns how long the situation must not have changed.
func (d DownAll) Delay() time.Duration { return orDefault(d.StableAfter, DefaultStableAfter) }

// Skew returns 0: all sides decide after the same time.
func (d DownAll) Skew() time.Duration { return 0 }

// String returns the name and the effective settings. Two nodes that agree have equal strings.
func (d DownAll) String() string {
	return fmt.Sprintf("down-all(stable-after=%v, keep-unstable=%v)", d.Delay(), d.KeepUnstable)
}

// Decide implements [Strategy].
func (d DownAll) Decide(s Situation) Decision {
	c := policy{after: d.Delay(), keepUnstable: d.KeepUnstable, spared: noMember}
	decision := c.decide(s, func([]Member, []Member) (verdict, string) { return downSelf, "" })
	if len(decision.Down) > 0 && s.Stable >= d.Delay() {
		decision.Down, _ = s.Split()
		decision.Reason = "members are unreachable, and then all go down"
	}
	return decision
}
