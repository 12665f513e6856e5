package cluster

import "github.com/understudy-go/understudy/cluster/internal/membership"

// A LeaderElection orders members as candidates for leader of the cluster and for host of
// singletons. It ignores reachability: a member loses its place only when it goes down or
// leaves. All nodes of a cluster must have the same election. The zero value is [Oldest].
type LeaderElection struct {
	// Name identifies the election; a node with another name is not admitted.
	Name string

	// Compare orders members that are up; the first is elected. It must depend on nothing but
	// the two members, and must not change them. It must be a strict order: return 0 only for a
	// member and itself, and the opposite sign for the members exchanged.
	//
	// [Start] tries it on some members and refuses an election that breaks these rules. If it
	// returns 0 later, the older member comes first. If it panics, all members are ordered by
	// age. Both depend only on the members, so nodes with the same view still elect the same
	// leader.
	Compare func(a, b Member) int
}

// Oldest elects the member that has been up the longest. A node that joins never takes over
// what runs elsewhere.
func Oldest() LeaderElection { return electionOf(membership.Oldest()) }

// LowestAddress elects the member with the lowest address, as a string.
func LowestAddress() LeaderElection { return electionOf(membership.LowestAddress()) }

// OfRole elects among the members that have a role, by another election. Members without the
// role come after all that have it, ordered by the same election. If no member has the role,
// one of them is therefore still leader of the membership. It panics if role is empty or among
// has no Compare.
func OfRole(role string, among LeaderElection) LeaderElection {
	return electionOf(membership.OfRole(role, among.inside()))
}

func electionOf(e membership.LeaderElection) LeaderElection {
	return LeaderElection{Name: e.Name, Compare: func(a, b Member) int { return e.Compare(a.inside(), b.inside()) }}
}

func (e LeaderElection) inside() membership.LeaderElection {
	if e.Compare == nil {
		return membership.LeaderElection{Name: e.Name}
	}
	return membership.LeaderElection{Name: e.Name, Compare: func(a, b membership.Member) int {
		return e.Compare(memberOf(a), memberOf(b))
	}}
}
