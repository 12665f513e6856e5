package membership

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

// randomTable draws what a node might know at some moment of some history. A row depends on the
// member that writes it and on the version only, as in reality.
func randomTable(random *rand.Rand) table {
	t := newTable(ClusterID{1})
	for i := range uint64(6) {
		id := ID{Address: fmt.Sprintf("n%d:1", i%4), Incarnation: i + 1}
		if random.IntN(2) == 0 {
			t.members[id] = Member{
				Name:        "n",
				Address:     id.Address,
				Incarnation: id.Incarnation,
				Status:      Joining + Status(random.IntN(5)),
				UpNumber:    random.Uint64N(4),
				Roles:       []string{"r"},
			}
		}
		if random.IntN(4) == 0 {
			t.tombstones[id] = tombstone{Name: "n", Clean: random.IntN(2) == 0, At: 1 + random.Int64N(5), Roles: []string{"r"}}
		}
		if version := random.Uint64N(4); version > 0 {
			t.rows[id] = row{Version: version, Unreachable: []ID{{Address: "n0:1", Incarnation: version}}}
		}
	}
	return normal(t)
}

// normal returns t as it is after a merge, for instance without the rows of removed members.
func normal(t table) table {
	n := newTable(t.cluster)
	n.merge(t)
	return n
}

func joined(a, b table) table {
	c := normal(a)
	c.merge(b)
	return c
}

func TestTablesMergeInAnyOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range effort.Of(200, 1_000, 50_000) {
		a, b, c := randomTable(random), randomTable(random), randomTable(random)
		require.Equal(t, joined(a, b).pack(), joined(b, a).pack(), "commutative")
		require.Equal(t, joined(joined(a, b), c).pack(), joined(a, joined(b, c)).pack(), "associative")
		require.Equal(t, a.pack(), joined(a, a).pack(), "idempotent")
	}
}

func TestMergeReturnsWhatIsNew(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range effort.Of(200, 1_000, 50_000) {
		a, b := randomTable(random), randomTable(random)
		whole := normal(a)
		news := whole.merge(b)
		require.Equal(t, whole.pack(), joined(a, news).pack(), "the news make up the difference")
		again := whole.merge(b)
		require.True(t, again.empty(), "and told twice there are none")
	}
}

func TestMergeNeverLetsAStatusGoBack(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range effort.Of(200, 1_000, 50_000) {
		a, b := randomTable(random), randomTable(random)
		c := joined(a, b)
		for _, id := range a.ids() {
			require.GreaterOrEqual(t, c.status(id), a.status(id))
		}
		for id := range a.tombstones {
			require.Equal(t, Removed, c.status(id), "the removed are not revived")
		}
	}
}

func TestDownBeatsUp(t *testing.T) {
	id := ID{Address: "n1:1", Incarnation: 1}
	with := func(s Status) table {
		c := newTable(ClusterID{})
		c.members[id] = Member{Address: id.Address, Incarnation: id.Incarnation, Status: s, UpNumber: 1}
		return c
	}
	require.Equal(t, Down, joined(with(Up), with(Down)).status(id))
	require.Equal(t, Down, joined(with(Down), with(Leaving)).status(id))
}

func TestATombKeepsWhatMayStillRun(t *testing.T) {
	id := ID{Address: "n1:1", Incarnation: 1}
	alive := newTable(ClusterID{})
	alive.members[id] = Member{Name: "n1", Address: id.Address, Incarnation: id.Incarnation, Status: Up, UpNumber: 7, Roles: []string{"r"}}
	alive.rows[id] = row{Version: 1}
	removed, clean := newTable(ClusterID{}), newTable(ClusterID{})
	removed.tombstones[id] = tombstone{At: 100}
	clean.tombstones[id] = tombstone{At: 200, Clean: true}

	unclean := joined(alive, removed)
	require.Equal(t, tombstone{Name: "n1", UpNumber: 7, At: 100, Roles: []string{"r"}}, unclean.tombstones[id])
	require.Equal(t, uint64(7), unclean.youngest(), "numbers are not given twice")
	require.Equal(t, tombstone{Name: "n1", UpNumber: 7, At: 100, Clean: true}, joined(unclean, clean).tombstones[id])
}

func TestSumsLeaveOutWhatNeedNotBeEqual(t *testing.T) {
	id := ID{Address: "n1:1", Incarnation: 1}
	a := newTable(ClusterID{1})
	a.members[id] = Member{Address: id.Address, Incarnation: id.Incarnation, Status: Up}
	before := a.sums()
	a.tombstones[ID{Address: "n2:1", Incarnation: 2}] = tombstone{At: 1}
	require.Equal(t, before, a.sums())

	a.rows[id] = row{Version: 1}
	require.Equal(t, before.members, a.sums().members)
	require.NotEqual(t, before.all, a.sums().all)
}
