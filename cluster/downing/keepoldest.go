package downing

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// KeepOldest keeps the side of the member that has been up the longest; if that one is
// alone, the others. The zero value is ready.
//
// It suits clusters whose singletons are costly to move, as with the election of the
// oldest they run there: most splits do not move them. In exchange a small side goes on
// and a large one ends, if the oldest is in the small one. And two crashes are more than
// it can bear in one moment: when the oldest and another member die together, the others
// cannot tell that from a split, and end.
//
// Members that are joining do not count; those that may be up, or gone, in the eyes of
// the other side count against this one where it matters.
//
// The rule is that of Akka's and Pekko's split brain resolver, with down-if-alone.
type KeepOldest struct {
	// Role restricts the rule to members that have it; empty is everyone. If nobody has
	// it, every side of a split downs itself.
	Role string

	// KeepAlone keeps the oldest even when it is alone against several. Then its crash,
	// which looks the same to the others, ends the cluster. Of two members the oldest is
	// kept in any case, and its crash ends the other one.
	KeepAlone bool

	// StableAfter is how long the situation must not have changed. 0 is what suits the
	// detector of the node (Config.Detector of package cluster), [DefaultStableAfter] with LAN.
	StableAfter time.Duration

	// KeepUnstable is as in [KeepMajority].
	KeepUnstable bool
}

// OrStableAfter returns k, with d for StableAfter unless that is set.
func (k KeepOldest) OrStableAfter(d time.Duration) Strategy {
	k.StableAfter = orDefault(k.StableAfter, d)
	return k
}

// Delay returns the time that must pass without a change.
func (k KeepOldest) Delay() time.Duration { return orDefault(k.StableAfter, DefaultStableAfter) }

// Skew is none: all sides decide after the same time.
func (k KeepOldest) Skew() time.Duration { return 0 }

// String returns the settings that count, defaults included: equal on two nodes that agree.
func (k KeepOldest) String() string {
	return fmt.Sprintf("keep-oldest(keep-alone=%v, stable-after=%v, role=%q, keep-unstable=%v)", k.KeepAlone, k.Delay(), k.Role, k.KeepUnstable)
}

// Decide implements [Strategy].
func (k KeepOldest) Decide(s Situation) Decision {
	of := electorate{k.Role}
	oldest, found := oldest(filter(s.Members, of.votes))
	c := conduct{after: k.Delay(), keepUnstable: k.KeepUnstable, spared: func(m Member) bool { return found && m.same(oldest) }}
	return c.decide(s, func(here, there []Member) (verdict, string) {
		if !found {
			return yield, fmt.Sprintf("no member has the role %q", k.Role)
		}
		ours := slices.ContainsFunc(here, oldest.same)
		us, them := count(here, of.surely), count(there, of.possibly)
		switch {
		case ours && k.alone(us, them):
			return yield, "the oldest member is alone, or the other side may believe it"
		case ours:
			return goOn, "the oldest member is on this side"
		case k.alone(them, us):
			return goOn, "the oldest member is alone on the other side"
		}
		return yield, "the oldest member is on the other side"
	})
}

// alone reports whether the side of the oldest must yield to the other.
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
