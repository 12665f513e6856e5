package cluster

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/telemetry"
)

func metric(t *testing.T, n *Node, name string, labels ...string) float64 {
	t.Helper()
	for _, f := range telemetry.Gather(n.System) {
		if f.Name != name {
			continue
		}
		for _, s := range f.Series {
			if slices.Equal(s.Labels, labels) {
				return s.Value
			}
		}
		t.Fatalf("no series %v: %v", labels, f.Series)
	}
	t.Fatalf("no family %s", name)
	return 0
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func TestACrashIsSeenInTheMetrics(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(5*time.Second, "n1", "n2", "n3")
		n := f.nodes["n1"]
		time.Sleep(10 * time.Second)
		require.InDelta(t, 3, metric(t, n, "understudy_members", "up"), 0)
		require.InDelta(t, 0, metric(t, n, "understudy_members_unreachable"), 0)
		require.InDelta(t, 1, metric(t, n, "understudy_converged"), 0)
		require.InDelta(t, 1, metric(t, n, "understudy_incarnations_total"), 0)
		require.Less(t, metric(t, n, "understudy_heartbeat_phi_max"), 1.0)
		f.crash("n3")
		highest := 0.0
		for range 600 {
			time.Sleep(100 * time.Millisecond)
			highest = max(highest, metric(t, n, "understudy_heartbeat_phi_max"))
		}
		require.Greater(t, highest, 8.0, "the threshold")
		require.InDelta(t, 2, metric(t, n, "understudy_members", "up"), 0)
		require.InDelta(t, 1, metric(t, n, "understudy_membership_changes_total", "unreachable"), 0)
		require.InDelta(t, 1, metric(t, n, "understudy_membership_changes_total", "removed"), 0)
		decided := 0.0
		for _, name := range []string{"n1", "n2"} {
			decided += metric(t, f.nodes[name], "understudy_downing_decisions_total", "others")
		}
		require.InDelta(t, 1, decided, 0, "one member decides")
	})
}

func TestThePageServesTheMetricsThatItIsGiven(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1")
		n := f.nodes["n1"]
		without := get(n, "/metrics")
		require.Equal(t, http.StatusNotFound, without.Code)
		require.Contains(t, without.Body.String(), "cluster.WithMetrics")
		with := get(n, "/metrics", WithMetrics(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("numbers")) })))
		require.Equal(t, http.StatusOK, with.Code)
		require.Equal(t, "numbers", with.Body.String())
		require.PanicsWithValue(t, "cluster: WithMetrics: the handler is nil; pass prometheus.Handler(node.System) of the module actor/telemetry/prometheus", func() { WithMetrics(nil) })
	})
}
