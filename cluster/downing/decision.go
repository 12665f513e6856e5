package downing

import (
	"slices"
	"time"
)

// DefaultStableAfter is the StableAfter that suits local networks of up to about twenty nodes.
const DefaultStableAfter = 3 * time.Second

// A policy is the behaviour that strategies share: when they decide, and what happens to
// members with broken links.
type policy struct {
	after        time.Duration
	keepUnstable bool
	spared       func(Member) bool // members that the rule for broken links keeps
}

type verdict uint8

const (
	wait     verdict = iota
	survive          // this side continues, and the others go down
	downSelf         // this side goes down
)

// decide calls judge with the two sides of a split, once the situation has been stable for long
// enough.
//
// Members that are only indirectly connected all count for this side. If the side continues,
// the members that [unlinked] returns go down. If every member can be reached, nothing else is
// decided.
func (c policy) decide(s Situation, judge func(here, there []Member) (verdict, string)) Decision {
	here, there := s.Split()
	lost := unlinked(here, c.spared)
	switch {
	case len(there)+len(lost) == 0:
		return Decision{}
	// While reachability changes, the two sides may see different splits, and both could continue.
	case s.Stable < c.after:
		return c.downIfUnstable(s, here, func() bool { v, _ := judge(here, there); return v == survive })
	case len(there) == 0:
		return Decision{Down: lost, Reason: "links between members are broken"}
	}
	switch v, reason := judge(here, there); v {
	case survive:
		return Decision{Down: append(there, lost...), Reason: reason}
	case downSelf:
		return Decision{Down: here, Reason: reason}
	case wait:
	}
	return Decision{}
}

// downIfUnstable downs this side when the situation has not become stable for too long. A side that
// would continue tolerates the loss of one member after the other, because each member can be
// lost only once. A side that would not continue has no reason to wait.
func (c policy) downIfUnstable(s Situation, here []Member, goesOn func() bool) Decision {
	limit := unstableAfter(c.after)
	if c.keepUnstable || s.Unstable < limit || s.Spread < limit && goesOn() {
		return Decision{}
	}
	return Decision{Down: here, Reason: "reachability has kept changing for too long"}
}

// unstableAfter returns how long a strategy with a given StableAfter tolerates an unstable
// situation.
func unstableAfter(after time.Duration) time.Duration {
	return after + max(4*time.Second, after*3/4)
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

func filter(members []Member, keep func(Member) bool) []Member {
	return slices.DeleteFunc(slices.Clone(members), func(m Member) bool { return !keep(m) })
}

func count(members []Member, counts func(Member) bool) int { return len(filter(members, counts)) }

// An electorate is the set of members that count for a strategy: those with a role.
type electorate struct{ role string }

func (e electorate) votes(m Member) bool { return m.counts(e.role) }

// surely reports whether every side sees m as up.
func (e electorate) surely(m Member) bool { return m.counts(e.role) && !m.Leaving }

// possibly reports whether another side may see m as up.
func (e electorate) possibly(m Member) bool {
	m.Joining = false
	return m.counts(e.role)
}

// majority reports whether this side has more members than the other side. If both have equally
// many, the side with the lowest address has the majority. The two functions select the members
// that count on each side.
func majority(here, there []Member, ours, theirs func(Member) bool) bool {
	us, them := filter(here, ours), filter(there, theirs)
	if len(us) == len(them) {
		return len(us) > 0 && us[0].Address < them[0].Address
	}
	return len(us) > len(them)
}
