package membership

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Each observer has a row of its own. A member is unreachable as long as one row says
// so, even if other observers hear it again. The newer row of one observer wins, whatever the
// order of arrival. Rows of members that are leaving the cluster do not count.
func TestRowsOfSeveralObserversAreKeptApart(t *testing.T) {
	a, b, c, d := id("a:1", 1), id("b:1", 1), id("c:1", 1), id("d:1", 1)
	whole := func(rows map[ID]row) table {
		all := newTable(ClusterID{1})
		for i, m := range []ID{a, b, c, d} {
			all.members[m] = Member{Name: m.Address, Address: m.Address, Incarnation: 1, Status: Up, UpNumber: uint64(i + 1)}
		}
		all.rows = rows
		return all
	}
	says := func(version uint64, whom ...ID) row { return row{Version: version, Unreachable: whom} }
	both := whole(map[ID]row{a: says(1, d), b: says(1, c, d)})
	later := whole(map[ID]row{a: says(2)})
	want := map[ID][]ID{c: {b}, d: {b}}
	for _, order := range [][]table{{both, later}, {later, both}, {both, later, both}} {
		merged := whole(map[ID]row{})
		for _, t := range order {
			merged.merge(t)
		}
		require.Equal(t, want, merged.unreachable(), "a has taken its word back, b has not")
	}
	both.merge(whole(map[ID]row{b: says(2, c), c: says(1, a)}))
	require.Equal(t, map[ID][]ID{a: {c}, c: {b}, d: {a}}, both.unreachable())

	leaves := both.members[b]
	leaves.Status = Exiting
	both.members[b] = leaves
	require.Equal(t, map[ID][]ID{a: {c}, d: {a}}, both.unreachable())
	delete(both.members, a)
	require.NotContains(t, both.unreachable(), a, "a node that is not a member is not unreachable either")
}
