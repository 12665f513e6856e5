package metrics

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/cluster/internal/membership"
)

func value(t *testing.T, all []telemetry.Family, name string, labels ...string) float64 {
	t.Helper()
	for _, f := range all {
		if f.Name != name {
			continue
		}
		i := slices.IndexFunc(f.Series, func(s telemetry.Series) bool { return slices.Equal(s.Labels, labels) })
		require.GreaterOrEqual(t, i, 0, "%s%v: %v", name, labels, f.Series)
		return f.Series[i].Value
	}
	t.Fatalf("no family %s", name)
	return 0
}

func TestMembersAreCountedByStatusAndVersion(t *testing.T) {
	member := func(address string, status membership.Status, version string) membership.Member {
		return membership.Member{Address: address, Incarnation: 1, Status: status, AppVersion: version}
	}
	v := membership.View{Members: []membership.Member{
		member("a:1", membership.Up, "1.0"), member("b:1", membership.Up, "1.1"), member("c:1", membership.Up, "1.1"), member("d:1", membership.Leaving, "1.0"),
	}, Converged: true}
	v.Self = v.Members[0]
	all := Families(State{View: v, Skipped: map[string]uint64{"cluster 99": 2}}, &Counters{})
	require.InDelta(t, 3, value(t, all, "understudy_members", "up"), 0)
	require.InDelta(t, 1, value(t, all, "understudy_members", "leaving"), 0)
	require.InDelta(t, 0, value(t, all, "understudy_members", "down"), 0)
	require.InDelta(t, 1, value(t, all, "understudy_members_up_by_app_version", "1.0"), 0)
	require.InDelta(t, 2, value(t, all, "understudy_members_up_by_app_version", "1.1"), 0)
	require.InDelta(t, 0, value(t, all, "understudy_members_unreachable"), 0)
	require.InDelta(t, 1, value(t, all, "understudy_converged"), 0)
	require.InDelta(t, 2, value(t, all, "understudy_skipped_messages_total", "cluster 99"), 0)
}

func TestEveryChangeAndEveryDecisionHasALabel(t *testing.T) {
	var c Counters
	for kind := membership.MemberJoined; kind <= membership.MembershipLost; kind++ {
		for range kind + 1 {
			c.Changed(kind)
		}
	}
	c.Decided(membership.DownOurs)
	c.Decided(membership.DownAsOperatorAsks)
	c.Decided(membership.DownAsOperatorAsks)
	c.Began()
	c.Suspected(2.5)
	all := Families(State{}, &c)
	for i, change := range changes {
		require.InDelta(t, i+1, value(t, all, "understudy_membership_changes_total", change), 0, change)
	}
	require.InDelta(t, 0, value(t, all, "understudy_downing_decisions_total", "others"), 0)
	require.InDelta(t, 1, value(t, all, "understudy_downing_decisions_total", "ours"), 0)
	require.InDelta(t, 2, value(t, all, "understudy_downing_decisions_total", "operator"), 0)
	require.InDelta(t, 1, value(t, all, "understudy_incarnations_total"), 0)
	require.InDelta(t, 2.5, value(t, all, "understudy_heartbeat_phi_max"), 0)
}
