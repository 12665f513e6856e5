package membership

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func electorate() []Member {
	return []Member{
		{Name: "joins", Address: "a:1", Incarnation: 1, Status: Joining},
		{Name: "exits", Address: "0:1", Incarnation: 1, Status: Exiting, UpNumber: 1},
		{Name: "down", Address: "b:1", Incarnation: 1, Status: Down, UpNumber: 1},
		{Name: "leaves", Address: "c:1", Incarnation: 1, Status: Leaving, UpNumber: 2},
		{Name: "young", Address: "d:1", Incarnation: 1, Status: Up, UpNumber: 9, Roles: []string{"db"}},
		{Name: "old", Address: "e:1", Incarnation: 1, Status: Up, UpNumber: 3},
		{Name: "twin", Address: "f:1", Incarnation: 1, Status: Up, UpNumber: 3},
	}
}

func namesInOrder(e LeaderElection, members []Member) []string {
	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return namesOf(e.order(members))
}

func TestTheOldestIsPreferredAndOfTwinsTheLowerAddress(t *testing.T) {
	require.Equal(t, []string{"old", "twin", "young", "leaves", "joins", "exits", "down"}, namesInOrder(Oldest(), electorate()))
}

func TestTheLowestAddressIsPreferredAmongThoseThatAreUp(t *testing.T) {
	require.Equal(t, []string{"young", "old", "twin", "leaves", "joins", "exits", "down"}, namesInOrder(LowestAddress(), electorate()))
}

func TestWhoActsForTheClusterIsNeverDown(t *testing.T) {
	all := Oldest().order(electorate())
	last, ok := first(all, func(m Member) bool { return m.Status != Up && m.Status != Leaving })
	require.True(t, ok)
	require.Equal(t, "joins", last.Name, "when there is nobody else, one that only joins")
	_, ok = first(all, func(m Member) bool { return m.Status == Down || m.Status == Exiting })
	require.False(t, ok)
}

func TestMembersWithTheRoleArePreferredAndOthersActWhenNobodyHasIt(t *testing.T) {
	require.Equal(t, []string{"young", "old", "twin", "leaves", "joins", "exits", "down"}, namesInOrder(OfRole("db", Oldest()), electorate()))
	require.Equal(t, []string{"old", "twin", "young", "leaves", "joins", "exits", "down"}, namesInOrder(OfRole("web", Oldest()), electorate()))
	require.Equal(t, `oldest of role "db"`, OfRole("db", Oldest()).Name)
	require.Panics(t, func() { OfRole("", Oldest()) })
	require.Panics(t, func() { OfRole("db", LeaderElection{}) })
	for _, e := range []LeaderElection{Oldest(), LowestAddress(), OfRole("role", LowestAddress())} {
		require.NoError(t, CheckElection(e), e.Name)
	}
}

func TestALeaderIsUpAndMayBeUnreachable(t *testing.T) {
	v := View{Members: electorate(), order: Oldest().order(electorate())}
	v.unreachable = map[ID][]ID{{Address: "e:1", Incarnation: 1}: {{Address: "f:1", Incarnation: 1}}}
	leader, ok := v.Leader()
	require.True(t, ok)
	require.Equal(t, "old", leader.Name)
	require.False(t, v.Reachable(leader.ID()))
	require.Equal(t, []string{"twin"}, namesOf(v.UnreachableBy(leader.ID())))

	leader, ok = v.LeaderOf("db")
	require.True(t, ok)
	require.Equal(t, "young", leader.Name)
	_, ok = v.LeaderOf("web")
	require.False(t, ok)
	_, ok = View{}.Leader()
	require.False(t, ok, "a node that looks for a cluster knows none")
}

// murmer: view.alive_count and view.total_count.
func TestAViewCountsItsMembersAndThoseThatAreAlive(t *testing.T) {
	v := View{Members: []Member{
		{Address: "a:1", Status: Up}, {Address: "b:1", Status: Joining}, {Address: "c:1", Status: Up}, {Address: "d:1", Status: Down},
	}, unreachable: map[ID][]ID{{Address: "c:1"}: {{Address: "a:1"}}}}
	require.Equal(t, 2, v.AliveCount(), "c cannot be reached, d is down")
	require.Equal(t, 4, v.TotalCount())
	require.Zero(t, View{}.AliveCount())
	require.Zero(t, View{}.TotalCount())
}

func TestMemberPrefersTheOneThatIsNotDown(t *testing.T) {
	v := View{Members: []Member{
		{Name: "n", Address: "a:1", Status: Down},
		{Name: "n", Address: "b:1", Status: Up},
		{Name: "m", Address: "c:1", Status: Down},
	}}
	n, _ := v.Member("n")
	require.Equal(t, "b:1", n.Address)
	m, ok := v.Member("m")
	require.True(t, ok)
	require.Equal(t, Down, m.Status)
	_, ok = v.Member("x")
	require.False(t, ok)
}

func TestConvergenceNeedsAllThatWereUpAndNobodyUnreachable(t *testing.T) {
	up, joins, other := ID{Address: "a:1", Incarnation: 1}, ID{Address: "b:1", Incarnation: 1}, ID{Address: "c:1", Incarnation: 1}
	c := newTable(ClusterID{})
	for id, status := range map[ID]Status{up: Up, joins: Joining, other: Leaving} {
		c.members[id] = Member{Address: id.Address, Incarnation: id.Incarnation, Status: status, UpNumber: uint64(status - Joining)}
	}
	w := newSeenBy(7, c.ids(), ID{Address: "d:1", Incarnation: 1})
	agreed := func() bool { return c.converged(w, c.unreachable()) }
	require.False(t, agreed())
	w.add(up)
	require.False(t, agreed())
	w.add(other)
	require.True(t, agreed(), "who joins need not have seen anything")

	c.rows[other] = row{Version: 1, Unreachable: []ID{joins}}
	require.False(t, agreed())
	c.rows[other] = row{Version: 2, Unreachable: []ID{{Address: "d:1", Incarnation: 1}}}
	require.True(t, agreed(), "what is said of a stranger does not count")

	c.members[joins] = Member{Address: joins.Address, Incarnation: 1, Status: Down}
	c.rows[other] = row{Version: 3, Unreachable: []ID{joins}}
	require.True(t, agreed(), "nor that a member that is down is unreachable")
}

func TestABadElectionBringsNobodyDown(t *testing.T) {
	byAge := namesInOrder(Oldest(), electorate())
	panics := LeaderElection{Name: "panics", Compare: func(Member, Member) int { panic("no") }}
	require.Equal(t, byAge, namesInOrder(panics, electorate()))
	undecided := LeaderElection{Name: "undecided", Compare: func(Member, Member) int { return 0 }}
	require.Equal(t, byAge, namesInOrder(undecided, electorate()), "of equals the older is preferred")
	stubborn := LeaderElection{Name: "stubborn", Compare: func(Member, Member) int { return -1 }}
	require.Len(t, namesInOrder(stubborn, electorate()), len(byAge))
}
