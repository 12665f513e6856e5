package placement

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/membership"
)

// caseMember returns a node that came up as the n-th.
func caseMember(name string, n uint64, roles ...string) home.Node {
	m := caseNode(name, roles...)
	m.UpNumber, m.Address = n, name+":7355"
	return m
}

// sortedView returns the view of those nodes.
func sortedView(nodes ...home.Node) home.View {
	return home.NewView(viewOf(nodes...).Nodes)
}

// The oldest node leads. A node that is not up does not lead. With a role, the oldest node that has
// it leads. Without nodes there is no leader. There is no leader if no node has the role.
func TestTheOldestOfARoleLeads(t *testing.T) {
	left := caseMember("y", 50)
	left.Up = false
	unheard := caseMember("u", 40)
	unheard.Reachable = false
	far := caseMember("a", 100)
	far.Address = "z:7355"
	for name, c := range map[string]struct {
		elect election
		view  home.View
		want  string
	}{
		"twins, the lower address leads":     {elect: oldest(""), view: sortedView(far, caseMember("b", 100)), want: "b"},
		"35":                                 {elect: oldest(""), view: sortedView(caseMember("a", 300), caseMember("b", 100), caseMember("c", 200)), want: "b"},
		"36":                                 {elect: oldest(""), view: sortedView(caseMember("a", 300), left, caseMember("c", 200)), want: "c"},
		"36, unreachable alone is no reason": {elect: oldest(""), view: sortedView(caseMember("a", 300), unheard), want: "u"},
		"37":                                 {elect: oldest("coordinator"), view: sortedView(caseMember("a", 100, "worker"), caseMember("b", 200, "coordinator")), want: "b"},
		"37, several roles":                  {elect: oldest("coordinator"), view: sortedView(caseMember("a", 300, "worker", "coordinator"), caseMember("b", 400, "coordinator")), want: "a"},
		"38":                                 {elect: oldest("")},
		"38, an address":                     {elect: lowestAddress("")},
		"39":                                 {elect: oldest("coordinator"), view: sortedView(caseMember("a", 100, "worker"))},
		"39, an address":                     {elect: lowestAddress("coordinator"), view: sortedView(caseMember("a", 100, "worker"))},
		"39, none is up":                     {elect: oldest(""), view: sortedView(left)},
	} {
		leader, ok := c.elect.Leader(c.view)
		require.Equal(t, c.want != "", ok, name)
		if ok {
			require.Equal(t, c.want, leader, name)
		}
	}
}

// Of twins the one with the lower name leads. The order in which nodes are known does not matter.
func TestNodesThatKnowTheSameNameTheSameLeader(t *testing.T) {
	twins := []home.Node{caseMember("c", 7), caseMember("a", 9), caseMember("b", 7), caseMember("d", 0)}
	for _, elect := range []struct {
		election
		want string
	}{{oldest(""), "b"}, {lowestAddress(""), "a"}} {
		for _, order := range permutations(twins) {
			leader, ok := elect.Leader(home.View{Nodes: order})
			require.True(t, ok)
			require.Equal(t, elect.want, leader)
		}
	}
	require.Len(t, permutations(twins), 24)
}

func permutations(all []home.Node) [][]home.Node {
	if len(all) < 2 {
		return [][]home.Node{all}
	}
	var orders [][]home.Node
	for i := range all {
		rest := slices.Delete(slices.Clone(all), i, i+1)
		for _, order := range permutations(rest) {
			orders = append(orders, append(order, all[i]))
		}
	}
	return orders
}

// When the leader leaves, the next oldest node leads. A node that joins does not take over, and a
// node that returns is the youngest. An election by address compares addresses as text.
func TestLeadershipPassesToTheNext(t *testing.T) {
	a, b, c := caseMember("a", 3), caseMember("b", 1), caseMember("c", 2)
	leads := func(e election, nodes ...home.Node) string {
		leader, _ := e.Leader(sortedView(nodes...))
		return leader
	}
	oldest := oldest("")
	require.Equal(t, "b", leads(oldest, b))
	require.Equal(t, "b", leads(oldest, b, c))
	require.Equal(t, "b", leads(oldest, a, b, c))
	b.Up = false // it leaves
	require.Equal(t, "c", leads(oldest, a, b, c))
	require.Equal(t, "c", leads(oldest, a, c))
	b.Up, b.UpNumber = true, 4
	require.Equal(t, "c", leads(oldest, a, b, c))

	a.Address, b.Address, c.Address = "10.0.0.9:1", "10.0.0.10:1", "10.0.0.9:2"
	require.Equal(t, "b", leads(lowestAddress(""), a, b, c))
	require.Equal(t, "a", leads(lowestAddress(""), a, c))
	a.Roles, c.Roles = []string{"x"}, []string{"coordinator"}
	require.Equal(t, "c", leads(lowestAddress("coordinator"), a, b, c))
}

// An election may use any order of the members that are up. If it panics, the oldest leads.
func TestAnElectionOfOnesOwnNamesANodeThatIsUp(t *testing.T) {
	left := caseMember("z", 3)
	left.Up = false
	v := sortedView(caseMember("a", 1), caseMember("b", 2), left)
	last := func(a, b membership.Member) int { return strings.Compare(b.Name, a.Name) }
	for name, c := range map[string]struct {
		elect election
		view  home.View
		want  string
	}{
		"a node that is up":  {ownElection(last), v, "b"},
		"the holder":         {election{Order: ownOrder(last), Holder: "a"}, v, "a"},
		"a holder that left": {election{Order: ownOrder(last), Holder: "z"}, v, "b"},
		"an unknown holder":  {election{Order: ownOrder(last), Holder: "x"}, v, "b"},
		"nobody":             {ownElection(last), sortedView(left), ""},
		"one that fails":     {ownElection(func(membership.Member, membership.Member) int { panic("no") }), v, "a"},
	} {
		leader, ok := c.elect.Leader(c.view)
		require.Equal(t, c.want, leader, name)
		require.Equal(t, c.want != "", ok, name)
	}
}
