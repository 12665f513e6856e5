package plan

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// caseMember returns a node that came up as the n-th.
func caseMember(name string, n uint64, roles ...string) Node {
	m := caseNode(name, roles...)
	m.UpNumber, m.Address = n, name+":7355"
	return m
}

// sortedView returns the view of those nodes.
func sortedView(nodes ...Node) View {
	return NewView(viewOf(nodes...).Nodes)
}

// Case 35: the oldest leads. Case 36: unless it is not up. Case 37: of a role the oldest that
// has it, however old others are. Case 38: of nobody nobody. Case 39: nor of a role that
// nobody has.
func TestTheOldestOfARoleLeads(t *testing.T) {
	left := caseMember("y", 50)
	left.Up = false
	unheard := caseMember("u", 40)
	unheard.Reachable = false
	far := caseMember("a", 100)
	far.Address = "z:7355"
	for name, c := range map[string]struct {
		elect Election
		view  View
		want  string
	}{
		"twins, the lower address leads":     {elect: Oldest(""), view: sortedView(far, caseMember("b", 100)), want: "b"},
		"35":                                 {elect: Oldest(""), view: sortedView(caseMember("a", 300), caseMember("b", 100), caseMember("c", 200)), want: "b"},
		"36":                                 {elect: Oldest(""), view: sortedView(caseMember("a", 300), left, caseMember("c", 200)), want: "c"},
		"36, unreachable alone is no reason": {elect: Oldest(""), view: sortedView(caseMember("a", 300), unheard), want: "u"},
		"37":                                 {elect: Oldest("coordinator"), view: sortedView(caseMember("a", 100, "worker"), caseMember("b", 200, "coordinator")), want: "b"},
		"37, several roles":                  {elect: Oldest("coordinator"), view: sortedView(caseMember("a", 300, "worker", "coordinator"), caseMember("b", 400, "coordinator")), want: "a"},
		"38":                                 {elect: Oldest("")},
		"38, an address":                     {elect: LowestAddress("")},
		"39":                                 {elect: Oldest("coordinator"), view: sortedView(caseMember("a", 100, "worker"))},
		"39, an address":                     {elect: LowestAddress("coordinator"), view: sortedView(caseMember("a", 100, "worker"))},
		"39, none is up":                     {elect: Oldest(""), view: sortedView(left)},
	} {
		leader, ok := c.elect.Leader(c.view)
		require.Equal(t, c.want != "", ok, name)
		if ok {
			require.Equal(t, c.want, leader, name)
		}
	}
}

// Case 40: of twins the one with the lower name leads. Case 41: the order in which nodes are
// known does not matter.
func TestNodesThatKnowTheSameNameTheSameLeader(t *testing.T) {
	twins := []Node{caseMember("c", 7), caseMember("a", 9), caseMember("b", 7), caseMember("d", 0)}
	for _, elect := range []struct {
		Election
		want string
	}{{Oldest(""), "b"}, {LowestAddress(""), "a"}} {
		for _, order := range permutations(twins) {
			leader, ok := elect.Leader(View{Nodes: order})
			require.True(t, ok)
			require.Equal(t, elect.want, leader)
		}
	}
	require.Len(t, permutations(twins), 24)
}

func permutations(all []Node) [][]Node {
	if len(all) < 2 {
		return [][]Node{all}
	}
	var orders [][]Node
	for i := range all {
		rest := slices.Delete(slices.Clone(all), i, i+1)
		for _, order := range permutations(rest) {
			orders = append(orders, append(order, all[i]))
		}
	}
	return orders
}

// Case 42: when the leader leaves the next one leads, who joins takes nothing over, and who
// returns is the youngest. Case 45: the address decides otherwise, as a text.
func TestLeadershipPassesToTheNext(t *testing.T) {
	a, b, c := caseMember("a", 3), caseMember("b", 1), caseMember("c", 2)
	leads := func(e Election, nodes ...Node) string {
		leader, _ := e.Leader(sortedView(nodes...))
		return leader
	}
	oldest := Oldest("")
	require.Equal(t, "b", leads(oldest, b))
	require.Equal(t, "b", leads(oldest, b, c))
	require.Equal(t, "b", leads(oldest, a, b, c))
	b.Up = false // it leaves
	require.Equal(t, "c", leads(oldest, a, b, c))
	require.Equal(t, "c", leads(oldest, a, c))
	b.Up, b.UpNumber = true, 4
	require.Equal(t, "c", leads(oldest, a, b, c))

	a.Address, b.Address, c.Address = "10.0.0.9:1", "10.0.0.10:1", "10.0.0.9:2"
	require.Equal(t, "b", leads(LowestAddress(""), a, b, c))
	require.Equal(t, "a", leads(LowestAddress(""), a, c))
	a.Roles, c.Roles = []string{"x"}, []string{"coordinator"}
	require.Equal(t, "c", leads(LowestAddress("coordinator"), a, b, c))
}

// Case 45: any function of the view elects, as long as it names a node that is up; one that
// panics elects nobody.
func TestAnElectionOfOnesOwnNamesANodeThatIsUp(t *testing.T) {
	left := caseMember("b", 2)
	left.Up = false
	v := sortedView(caseMember("a", 1), left)
	for name, c := range map[string]struct {
		elect func(View) (string, bool)
		ok    bool
	}{
		"a node":         {func(View) (string, bool) { return "a", true }, true},
		"nobody":         {func(View) (string, bool) { return "a", false }, false},
		"a stranger":     {func(View) (string, bool) { return "x", true }, false},
		"who has left":   {func(View) (string, bool) { return "b", true }, false},
		"no name":        {func(View) (string, bool) { return "", true }, false},
		"one that fails": {func(View) (string, bool) { panic("no") }, false},
	} {
		_, ok := Election{Name: "own", Elect: c.elect}.Leader(v)
		require.Equal(t, c.ok, ok, name)
	}
	require.Equal(t, []string{"oldest", "oldest of role r", "lowest-address", "lowest-address of role r"},
		[]string{Oldest("").Name, Oldest("r").Name, LowestAddress("").Name, LowestAddress("r").Name})
}
