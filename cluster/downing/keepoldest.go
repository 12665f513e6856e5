package downing

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// KeepOldest keeps the side of the member that has been up the longest. If that member is
// alone, it keeps the other side. The zero value is ready to use.
//
// It suits clusters whose singletons are costly to move. If the oldest member is elected,
// singletons run there, and most splits do not move them. In exchange, a small side continues
// and a large one ends if the oldest member is in the small one. It also does not survive two
// crashes at once: when the oldest member and another one die together, the others cannot
// distinguish that from a split, and end.
//
// Members that are joining do not count. A member that the other side may see as up, or as
// removed, counts against this side where it matters.
//
// The rule is the same as in the split brain resolvers of Akka and Pekko, with down-if-alone.
type KeepOldest struct {
	// Role restricts the rule to members that have it; empty means all members. If no member
	// has the role, every side of a split downs itself.
	Role string

	// KeepAlone keeps the oldest member even if it is alone against several others. Then its
	// crash, which looks the same to the others, ends the cluster. Of two members the oldest is
	// kept in any case, and its crash ends the other one.
	KeepAlone bool

	// StableAfter is how long the situation must not have changed before the strategy decides.
	// 0 is what suits the detector of the node (Config.Detector of package cluster),
	// [DefaultStableAfter] with LAN.
	StableAfter time.Duration

	// KeepUnstable makes a side wait indefinitely while reachability keeps changing; see
	// [KeepMajority].
	KeepUnstable bool
}

// OrStableAfter returns k with d as its StableAfter, unless StableAfter is set already.
func (k KeepOldest) OrStableAfter(d time.Duration) Strategy {
	k.StableAfter = orDefault(k.StableAfter, d)
	return k
}

// Delay returns how long the situation must not have changed.
func (k KeepOldest) Delay() time.Duration { return orDefault(k.StableAfter, DefaultStableAfter) }

// Skew returns 0: all sides decide after the same time.
func (k KeepOldest) Skew() time.Duration { return 0 }

// String returns the name and the effective settings. Two nodes that agree have equal strings.
func (k KeepOldest) String() string {
	return fmt.Sprintf("keep-oldest(keep-alone=%v, stable-after=%v, role=%q, keep-unstable=%v)", k.KeepAlone, k.Delay(), k.Role, k.KeepUnstable)
}

// Decide implements [Strategy].
func (k KeepOldest) Decide(s Situation) Decision {
	of := electorate{k.Role}
	oldest, found := oldest(filter(s.Members, of.votes))
	c := policy{after: k.Delay(), keepUnstable: k.KeepUnstable, spared: func(m Member) bool { return found && m.same(oldest) }}
	return c.decide(s, func(here, there []Member) (verdict, string) {
		if !found {
			return downSelf, fmt.Sprintf("no member has the role %q", k.Role)
		}
		ours := slices.ContainsFunc(here, oldest.same)
		us, them := count(here, of.surely), count(there, of.possibly)
		switch {
		case ours && k.alone(us, them):
			return downSelf, "the oldest member is alone, or the other side may believe it"
		case ours:
			return survive, "the oldest member is on this side"
		case k.alone(them, us):
			return survive, "the oldest member is alone on the other side"
		}
		return downSelf, "the oldest member is on the other side"
	})
}

// alone reports whether the side of the oldest member must yield to the other side.
func (k KeepOldest) alone(itsSide, other int) bool {
	return !k.KeepAlone && itsSide <= 1 && other > 1
}

func oldest(members []Member) (Member, bool) {
	if len(members) == 0 {
		return Member{}, false
	}
	return slices.MinFunc(members, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.UpNumber, b.UpNumber), cmp.Compare(a.Address, b.Address))
	}), true
}
