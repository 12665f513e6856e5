package membership

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNobodyIsUpBeforeThereAreEnoughMembersOfEachRole(t *testing.T) {
	r := newRig(func(set *Settings) {
		set.Self.Roles = []string{"web"}
		set.MinMembers, set.MinMembersOf = 3, map[string]int{"db": 2, "web": 1}
	})
	require.Equal(t, []string{"1 of 3 members", `0 of 2 members with the role "db"`}, r.set.lacks(r.table))
	join := func(name string, incarnation uint64, role string) ID {
		who := id(name+":1", incarnation)
		require.Equal(t, welcome, r.asks(who, joinRequest{Name: name, Roles: []string{role}}).Verdict)
		r.agrees()
		return who
	}
	join("n2", 2, "web")
	join("n3", 3, "web")
	require.Equal(t, []string{`0 of 2 members with the role "db"`}, r.set.lacks(r.table))
	join("n4", 4, "db")
	require.Equal(t, Joining, r.table.status(r.self))
	n5 := join("n5", 5, "db")
	require.Equal(t, Up, r.table.status(r.self))
	require.Equal(t, Up, r.table.status(n5))

	r.hears(n5, gone{})
	n6 := join("n6", 6, "web")
	require.Equal(t, Up, r.table.status(n6), "it is about the first to be up, and does not stop what runs")
}
