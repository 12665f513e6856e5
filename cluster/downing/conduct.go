package downing

import (
	"slices"
	"time"
)

// DefaultStableAfter suits local networks of up to some twenty nodes.
const DefaultStableAfter = 3 * time.Second

// A conduct is what strategies have in common: when they decide, and what becomes of
// members that are connected, but not to everybody.
type conduct struct {
	after        time.Duration
	keepUnstable bool
	spared       func(Member) bool // by the rule for broken links
}

// A verdict is what a strategy says about its own side of a split.
type verdict uint8

const (
	wait  verdict = iota
	goOn          // without the others
	yield         // to the others
)

// decide lets a strategy judge the two sides of a split, once it has lasted.
//
// Members that have no link to each other, but to a third one, all count for this side. If
// the side goes on, those of [unlinked] go down; if nobody is beyond reach, that is all there
// is to decide.
func (c conduct) decide(s Situation, judge func(here, there []Member) (verdict, string)) Decision {
	here, there := s.Split()
	lost := unlinked(here, c.spared)
	switch {
	case len(there)+len(lost) == 0:
		return Decision{}
	case s.Stable < c.after:
		return c.endure(s, here, func() bool { v, _ := judge(here, there); return v == goOn })
	case len(there) == 0:
		return Decision{Down: lost, Reason: "links between members are broken"}
	}
	switch v, reason := judge(here, there); v {
	case goOn:
		return Decision{Down: append(there, lost...), Reason: reason}
	case yield:
		return Decision{Down: here, Reason: reason}
	case wait:
	}
	return Decision{}
}

// endure gives up when the situation has not become stable for too long. The side that
// would go on bears it that one member after the other is lost, as each can be but once;
// a side that would not has nothing to wait for.
func (c conduct) endure(s Situation, here []Member, goesOn func() bool) Decision {
	limit := unstableAfter(c.after)
	if c.keepUnstable || s.Unstable < limit || s.Spread < limit && goesOn() {
		return Decision{}
	}
	return Decision{Down: here, Reason: "who is reachable has kept changing for too long"}
}

// unstableAfter is how long a strategy that decides after some time without a change bears
// changes that do not end.
func unstableAfter(after time.Duration) time.Duration {
	return after + max(4*time.Second, after*3/4)
}

// orDefault returns d, or the default if it is not positive.
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

// An electorate is the members that count for a strategy.
type electorate struct{ role string }

// votes counts those who are or were up.
func (e electorate) votes(m Member) bool { return m.counts(e.role) }

// surely counts those who are up in the eyes of every side.
func (e electorate) surely(m Member) bool { return m.counts(e.role) && !m.Leaving }

// possibly counts those who may be up in the eyes of another side.
func (e electorate) possibly(m Member) bool {
	m.Joining = false
	return m.counts(e.role)
}

// majority reports whether one side has more members than the other, or as many and the
// one with the lowest address, when the members of each side count by the given rules.
func majority(here, there []Member, ours, theirs func(Member) bool) bool {
	us, them := filter(here, ours), filter(there, theirs)
	if len(us) == len(them) {
		return len(us) > 0 && us[0].Address < them[0].Address
	}
	return len(us) > len(them)
}
