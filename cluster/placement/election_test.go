package placement

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/membership"
)

// aged is a node that is up, as the n-th.
func aged(name string, n uint64, roles ...string) home.Node {
	return home.Node{Name: name, Address: name, Incarnation: n, UpNumber: n, Roles: roles, Up: true, Reachable: true}
}

func leads(t *testing.T, e election, nodes ...home.Node) string {
	t.Helper()
	name, ok := e.Leader(viewOf(nodes...))
	require.Equal(t, ok, name != "", name)
	return name
}

func TestTheOldestNodeLeads(t *testing.T) {
	require.Equal(t, "b", leads(t, oldest(""), aged("a", 300), aged("b", 100), aged("c", 200)))
	worker, old, young := aged("w", 1, "worker"), aged("c1", 2, "coordinator"), aged("c2", 3, "coordinator")
	require.Equal(t, "c1", leads(t, oldest("coordinator"), worker, old, young))
	require.Equal(t, "a", leads(t, oldest(""), aged("b", 7), aged("a", 7)))
}

func TestNobodyLeadsWhenThereIsNobodyWhoMay(t *testing.T) {
	require.Empty(t, leads(t, oldest("")))
	require.Empty(t, leads(t, oldest("coordinator"), aged("a", 1, "worker")))
	down := aged("a", 1)
	down.Up = false
	require.Empty(t, leads(t, oldest(""), down))
	require.Empty(t, leads(t, lowestAddress(""), down))
}

func TestTheOrderOfNodesDoesNotMatterToElections(t *testing.T) {
	a, b, c := aged("a", 3), aged("b", 1), aged("c", 2)
	a.Address, b.Address, c.Address = "10.0.0.2:1", "10.0.0.3:1", "10.0.0.1:1"
	for _, order := range [][]home.Node{{a, b, c}, {a, c, b}, {b, a, c}, {b, c, a}, {c, a, b}, {c, b, a}} {
		require.Equal(t, "b", leads(t, oldest(""), order...))
		require.Equal(t, "c", leads(t, lowestAddress(""), order...))
	}
}

func TestTheLowestAddressLeadsAmongThoseOfTheRole(t *testing.T) {
	a, b := aged("a", 1, "edge"), aged("b", 2, "coordinator")
	require.Equal(t, "b", leads(t, lowestAddress("coordinator"), a, b))
}

func TestAnOrderThatFailsElectsTheOldest(t *testing.T) {
	require.Equal(t, "a", leads(t, ownElection(func(membership.Member, membership.Member) int { panic("undecided") }), aged("a", 1), aged("b", 2)))
	require.Equal(t, "a", leads(t, ownElection(func(membership.Member, membership.Member) int { return 0 }), aged("b", 2), aged("a", 1)))
	youngest := func(a, b membership.Member) int { return cmp.Compare(b.UpNumber, a.UpNumber) }
	require.Equal(t, "b", leads(t, ownElection(youngest), aged("a", 1), aged("b", 2)))
}

func oldest(role string) election { return election{Order: membership.Oldest(), Role: role} }

func lowestAddress(role string) election {
	return election{Order: membership.LowestAddress(), Role: role}
}

func ownOrder(compare func(a, b membership.Member) int) membership.LeaderElection {
	return membership.LeaderElection{Name: "own", Compare: compare}
}

func ownElection(compare func(a, b membership.Member) int) election {
	return election{Order: ownOrder(compare)}
}
