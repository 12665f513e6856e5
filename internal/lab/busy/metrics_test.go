package busy_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/lab/busy"
	"github.com/understudy-go/understudy/internal/telemetrytest"
)

func TestAllMetricsTogetherFollowTheRules(t *testing.T) {
	p, err := busy.Start(t.Context(), t.TempDir(), 2)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close(t.Context())) }()
	for _, n := range p.Nodes {
		telemetrytest.Check(t, n.System)
	}
	requireDetails(t, p)
	for _, f := range telemetry.Gather(p.Nodes[0].System) {
		switch f.Name {
		case "understudy_skipped_messages_total": // the nodes are of the same release
		case "understudy_mailbox_messages", "understudy_oldest_request_seconds", "understudy_actor_dropped_messages_total", "understudy_stash_messages": // only of kinds with messages that wait
		default:
			require.NotEmpty(t, f.Series, f.Name)
		}
		for _, s := range f.Series {
			for _, label := range s.Labels {
				require.NotContains(t, label, "/user/", "%s: the value of a label is no path", f.Name)
				require.NotContains(t, label, "127.0.0.1", "%s: the value of a label is no address", f.Name)
			}
		}
	}
}

// requireDetails checks what the pages of a real program show of its links, journals, projections
// and placed actors.
func requireDetails(t *testing.T, p *busy.Program) {
	t.Helper()
	events, projections := uint64(0), 0
	for _, n := range p.Nodes {
		w := httptest.NewRecorder()
		n.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/details", nil))
		var d struct {
			Links []struct {
				Name, State  string
				SentMessages uint64
			}
			Journals []struct {
				Name    string
				Events  uint64
				Appends struct{ FailedInARow uint64 }
			}
			Projections      []struct{ Name string }
			Placement        struct{ Actors []struct{ Label string } }
			PlacementFailure string
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &d), w.Body)
		members := 0
		for _, l := range d.Links {
			if l.Name != "" {
				members++
				require.Equal(t, "connected", l.State)
				require.Positive(t, l.SentMessages)
			}
		}
		require.Equal(t, len(p.Nodes)-1, members)
		for _, j := range d.Journals {
			require.Equal(t, "sqlite", j.Name)
			require.Zero(t, j.Appends.FailedInARow)
			events += j.Events
		}
		for _, one := range d.Projections {
			require.Equal(t, "sales", one.Name)
			projections++
		}
		require.Empty(t, d.PlacementFailure)
		require.Equal(t, "clerk-1", d.Placement.Actors[0].Label)
	}
	require.Positive(t, events)
	require.Equal(t, 1, projections, "it is a singleton")
}
