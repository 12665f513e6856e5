package cluster

import (
	"cmp"
	"slices"
	"strings"
)

// A LeaderElection is the order in which members are preferred as leader of the cluster
// and as host of singletons. It does not regard who is reachable: only a member that goes
// down or leaves loses its place. All nodes of a cluster must have the same one; the zero
// value is [Oldest].
type LeaderElection struct {
	// Name tells elections apart; a node with another one is not let in.
	Name string

	// Compare orders members that are up; the first is elected. It must depend on nothing
	// but the two members, and return 0 only for a member and itself.
	Compare func(a, b Member) int
}

// Oldest elects the member that has been up the longest. A node that joins never takes
// over what runs elsewhere.
func Oldest() LeaderElection { return LeaderElection{Name: "oldest", Compare: byAge} }

// LowestAddress elects the member with the lowest address, as a string.
func LowestAddress() LeaderElection {
	return LeaderElection{Name: "lowest-address", Compare: func(a, b Member) int { return a.ID().Compare(b.ID()) }}
}

// byAge puts those that have no up-number yet last.
func byAge(a, b Member) int {
	return cmp.Or(
		cmp.Compare(a.UpNumber-1, b.UpNumber-1),
		strings.Compare(a.Address, b.Address),
		cmp.Compare(a.Incarnation, b.Incarnation),
	)
}

// order sorts members as candidates: those that are up by the election, then those that
// leave, then those that join, then those that are exiting or down.
func (e LeaderElection) order(members []Member) []Member {
	place := func(m Member) int {
		return slices.Index([]Status{Up, Leaving, Joining, Exiting, Down, Removed}, m.Status)
	}
	return slices.SortedFunc(slices.Values(members), func(a, b Member) int {
		if c := cmp.Compare(place(a), place(b)); c != 0 {
			return c
		}
		if a.Status == Up {
			return e.Compare(a, b)
		}
		return byAge(a, b)
	})
}

// candidates returns the members of t as candidates.
func (t table) candidates(e LeaderElection) []Member {
	members := make([]Member, 0, len(t.members))
	for _, m := range t.members {
		members = append(members, m)
	}
	return e.order(members)
}

// first returns the first candidate that is neither exiting nor down and passes a filter:
// who acts for the cluster, or for one side of it. It may be one that only joins, when
// there is nobody else.
func first(candidates []Member, pass func(Member) bool) (Member, bool) {
	i := slices.IndexFunc(candidates, func(m Member) bool { return m.Status < Exiting && pass(m) })
	if i < 0 {
		return Member{}, false
	}
	return candidates[i], true
}
