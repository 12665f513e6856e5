package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// aged is a node that is up, as the n-th.
func aged(name string, n uint64, roles ...string) Node {
	return Node{Name: name, Address: name, Incarnation: n, UpNumber: n, Roles: roles, Up: true, Reachable: true}
}

func leads(t *testing.T, e Election, nodes ...Node) string {
	t.Helper()
	name, ok := e.Leader(viewOf(nodes...))
	require.Equal(t, ok, name != "", name)
	return name
}

// Cases 35, 37, 40.
func TestTheOldestNodeLeads(t *testing.T) {
	require.Equal(t, "b", leads(t, Oldest(""), aged("a", 300), aged("b", 100), aged("c", 200)))
	worker, old, young := aged("w", 1, "worker"), aged("c1", 2, "coordinator"), aged("c2", 3, "coordinator")
	require.Equal(t, "c1", leads(t, Oldest("coordinator"), worker, old, young))
	require.Equal(t, "a", leads(t, Oldest(""), aged("b", 7), aged("a", 7)))
}

// Case 38.
func TestNobodyLeadsWhenThereIsNobodyWhoMay(t *testing.T) {
	require.Empty(t, leads(t, Oldest("")))
	require.Empty(t, leads(t, Oldest("coordinator"), aged("a", 1, "worker")))
	down := aged("a", 1)
	down.Up = false
	require.Empty(t, leads(t, Oldest(""), down))
	require.Empty(t, leads(t, LowestAddress(""), down))
}

// Case 41.
func TestTheOrderOfNodesDoesNotMatterToElections(t *testing.T) {
	a, b, c := aged("a", 3), aged("b", 1), aged("c", 2)
	a.Address, b.Address, c.Address = "10.0.0.2:1", "10.0.0.3:1", "10.0.0.1:1"
	for _, order := range [][]Node{{a, b, c}, {a, c, b}, {b, a, c}, {b, c, a}, {c, a, b}, {c, b, a}} {
		require.Equal(t, "b", leads(t, Oldest(""), order...))
		require.Equal(t, "c", leads(t, LowestAddress(""), order...))
	}
}

func TestTheLowestAddressLeadsAmongThoseOfTheRole(t *testing.T) {
	a, b := aged("a", 1, "edge"), aged("b", 2, "coordinator")
	require.Equal(t, "b", leads(t, LowestAddress("coordinator"), a, b))
	require.Equal(t, "lowest-address of role coordinator", LowestAddress("coordinator").Name)
	require.Equal(t, "oldest", Oldest("").Name)
}

func TestAnElectionThatFailsOrNamesNobodyElectsNobody(t *testing.T) {
	for _, elect := range []func(View) (string, bool){
		func(View) (string, bool) { panic("undecided") },
		func(View) (string, bool) { return "ghost", true },
		func(View) (string, bool) { return "a", false },
		nil,
	} {
		require.Empty(t, leads(t, Election{Elect: elect}, aged("a", 1)))
	}
	mine := Election{Elect: func(v View) (string, bool) { return v.Nodes[len(v.Nodes)-1].Name, true }}
	require.Equal(t, "b", leads(t, mine, aged("a", 1), aged("b", 2)))
}
