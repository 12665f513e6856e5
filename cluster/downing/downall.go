package downing

import (
	"fmt"
	"time"
)

// DownAll ends every side: when somebody has been unreachable for long enough, all
// members go down, and those that can form the cluster anew. The zero value is ready.
//
// It suits clusters that must never go on with a part of their members, where a restart
// is cheap. One crash, and one broken link, is enough.
//
// The rule is that of Akka's and Pekko's split brain resolver.
type DownAll struct {
	// StableAfter is how long the situation must not have changed. 0 is what suits the
	// detector of the node (Config.Detector of package cluster), [DefaultStableAfter] with LAN.
	StableAfter time.Duration

	// KeepUnstable is as in [KeepMajority].
	KeepUnstable bool
}

// OrStableAfter returns d, with after for StableAfter unless that is set.
func (d DownAll) OrStableAfter(after time.Duration) Strategy {
	d.StableAfter = orDefault(d.StableAfter, after)
	return d
}

// Delay returns the time that must pass without a change.
func (d DownAll) Delay() time.Duration { return orDefault(d.StableAfter, DefaultStableAfter) }

// Skew is none: all sides decide after the same time.
func (d DownAll) Skew() time.Duration { return 0 }

// String returns the settings that count, defaults included: equal on two nodes that agree.
func (d DownAll) String() string {
	return fmt.Sprintf("down-all(stable-after=%v, keep-unstable=%v)", d.Delay(), d.KeepUnstable)
}

// Decide implements [Strategy].
func (d DownAll) Decide(s Situation) Decision {
	c := conduct{after: d.Delay(), keepUnstable: d.KeepUnstable, spared: nobody}
	decision := c.decide(s, func([]Member, []Member) (verdict, string) { return yield, "" })
	if len(decision.Down) > 0 && s.Stable >= d.Delay() {
		decision.Down, _ = s.Split()
		decision.Reason = "members are unreachable, and then all go down"
	}
	return decision
}
