package membership

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/internal/guard"
)

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
func Oldest() LeaderElection { return LeaderElection{Name: "oldest", Compare: byAge} }

// LowestAddress elects the member with the lowest address, as a string.
func LowestAddress() LeaderElection {
	return LeaderElection{Name: "lowest-address", Compare: func(a, b Member) int { return a.ID().Compare(b.ID()) }}
}

// OfRole elects among the members that have a role, by another election. Members without the
// role come after all that have it, ordered by the same election. If no member has the role,
// one of them is therefore still leader of the membership. It panics if role is empty or among
// has no Compare.
func OfRole(role string, among LeaderElection) LeaderElection {
	if role == "" || among.Compare == nil {
		panic("cluster: OfRole needs a role and an election, as Oldest returns one")
	}
	without := func(m Member) int {
		if m.HasRole(role) {
			return 0
		}
		return 1
	}
	return LeaderElection{
		Name:    fmt.Sprintf("%s of role %q", among.Name, role),
		Compare: func(a, b Member) int { return cmp.Or(cmp.Compare(without(a), without(b)), among.Compare(a, b)) },
	}
}

// byAge orders by up-number; members that have none yet come last.
func byAge(a, b Member) int {
	return cmp.Or(
		cmp.Compare(a.UpNumber-1, b.UpNumber-1),
		strings.Compare(a.Address, b.Address),
		cmp.Compare(a.Incarnation, b.Incarnation),
	)
}

// First returns the elected member: the first in the order of those that are up. It returns
// false if none is up.
func (e LeaderElection) First(members []Member) (Member, bool) {
	if ordered := e.order(members); len(ordered) > 0 && ordered[0].Status == Up {
		return ordered[0], true
	}
	return Member{}, false
}

// order sorts members as candidates: first members that are up, ordered by the election; then
// leaving, joining, exiting and down members, by age.
func (e LeaderElection) order(members []Member) []Member {
	place := [256]uint8{Up: 1, Leaving: 2, Joining: 3, Exiting: 4, Down: 5, Removed: 6}
	ordered := slices.Clone(members)
	slices.SortFunc(ordered, func(a, b Member) int {
		return cmp.Or(cmp.Compare(place[a.Status], place[b.Status]), byAge(a, b))
	})
	var up []Member
	for _, m := range ordered {
		if m.Status == Up {
			up = append(up, m)
		}
	}
	if e.sort(up) {
		copy(ordered, up)
	}
	return ordered
}

// sort sorts members that are in order of age. It returns false if Compare panics.
func (e LeaderElection) sort(members []Member) (sorted bool) {
	return guard.Apart(func() { slices.SortStableFunc(members, e.Compare) }) == nil
}

// CheckElection tries an election on some members, and returns an error if it breaks the rules
// of [LeaderElection.Compare].
func CheckElection(e LeaderElection) (err error) {
	if panicked := guard.Apart(func() { err = e.try() }); panicked != nil {
		return fmt.Errorf("cluster: Config.Leader.Compare fails on ordinary members: %w", panicked)
	}
	return err
}

func (e LeaderElection) try() error {
	var samples []Member
	for i, address := range []string{"10.0.0.1:7355", "10.0.0.2:7355", "b:1", "a:65535"} {
		m := Member{Name: address, Address: address, Incarnation: uint64(7 * i % 5), Status: Up, UpNumber: uint64(4 - i)}
		samples = append(samples, m)
		m.Name, m.Address, m.UpNumber, m.Roles = "z"+m.Name, "z"+m.Address, m.UpNumber+10, []string{"role"}
		samples = append(samples, m)
	}
	for i, a := range samples {
		for j, b := range samples {
			ab, ba := cmp.Compare(e.Compare(a, b), 0), cmp.Compare(e.Compare(b, a), 0)
			if ab != -ba || (ab == 0) != (i == j) {
				return fmt.Errorf("cluster: Config.Leader.Compare is no strict order: it returns %d for the members %s and %s, and %d the other way round; end it with a comparison of their IDs", ab, a.ID(), b.ID(), ba)
			}
		}
	}
	return nil
}

func (t table) candidates(e LeaderElection) []Member {
	members := make([]Member, 0, len(t.members))
	for _, m := range t.members {
		members = append(members, m)
	}
	return e.order(members)
}

// first returns the first candidate that is neither exiting nor down and passes a filter. It
// acts for the cluster, or for one side of it. It may be a joining member if there is no other.
func first(candidates []Member, pass func(Member) bool) (Member, bool) {
	i := slices.IndexFunc(candidates, func(m Member) bool { return m.Status < Exiting && pass(m) })
	if i < 0 {
		return Member{}, false
	}
	return candidates[i], true
}
