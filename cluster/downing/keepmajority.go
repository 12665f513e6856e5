package downing

import (
	"fmt"
	"slices"
	"time"
)

// DefaultStableAfter suits local networks of up to some twenty nodes.
const DefaultStableAfter = 3 * time.Second

// KeepMajority keeps the side with more than half of the members; of two equal halves the
// one with the lowest address. The other side downs itself. The zero value is ready.
//
// Members that are joining do not count. But a member that one side still sees joining
// may be up for the other, and one that is leaving here may be gone there: if that could
// make the other side believe in its own majority, this one downs itself, so that not
// both go on.
//
// Where only some links are broken, and everybody is still connected through others, the
// members that lack most of the others are taken down, until those that stay all have
// links to each other; of two that lack only each other, the younger.
type KeepMajority struct {
	// StableAfter is how long the situation must not have changed; it should exceed the
	// time within which all members notice the same split. 0 is [DefaultStableAfter].
	StableAfter time.Duration

	// Role restricts the vote to members that have it; empty is everyone. If nobody has
	// it, every side downs itself.
	Role string
}

// Delay returns the time that must pass without a change.
func (k KeepMajority) Delay() time.Duration {
	if k.StableAfter <= 0 {
		return DefaultStableAfter
	}
	return k.StableAfter
}

func (k KeepMajority) String() string {
	return fmt.Sprintf("keep-majority(stable-after=%v, role=%q)", k.Delay(), k.Role)
}

// Decide implements [Strategy].
func (k KeepMajority) Decide(s Situation) Decision {
	here, there := s.Split()
	lost := unlinked(here)
	if s.Stable < k.Delay() || len(there)+len(lost) == 0 {
		return Decision{}
	}
	switch {
	case !slices.ContainsFunc(s.Members, k.votes):
		return Decision{Down: here, Reason: fmt.Sprintf("no member has the role %q", k.Role)}
	case len(there) == 0:
		return Decision{Down: lost, Reason: "links between members are broken"}
	case !k.wins(here, there, k.votes, k.votes):
		return Decision{Down: here, Reason: "this side is not the majority"}
	case !k.wins(here, there, k.surely, k.possibly):
		return Decision{Down: here, Reason: "the other side may believe that it is the majority"}
	}
	return Decision{Down: append(there, lost...), Reason: "this side is the majority"}
}

// wins reports whether this side is the majority, when the members of each side count by
// the given rules.
func (k KeepMajority) wins(here, there []Member, ours, theirs func(Member) bool) bool {
	us, them := filter(here, ours), filter(there, theirs)
	if len(us) == len(them) {
		return len(us) > 0 && us[0].Address < them[0].Address
	}
	return len(us) > len(them)
}

func (k KeepMajority) votes(m Member) bool  { return m.counts(k.Role) }
func (k KeepMajority) surely(m Member) bool { return m.counts(k.Role) && !m.Leaving }

// possibly counts those who may be up in the eyes of the other side.
func (k KeepMajority) possibly(m Member) bool {
	m.Joining = false
	return m.counts(k.Role)
}

func filter(members []Member, keep func(Member) bool) []Member {
	return slices.DeleteFunc(slices.Clone(members), func(m Member) bool { return !keep(m) })
}
