package placement_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/internal/statuspage"
	"github.com/understudy-go/understudy/internal/telemetrytest"
)

func TestTheNodeWithTheCoordinatorTellsTheNumbersOfSpecs(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.spec("one"))
		w.submit(w.spec("two"))
		settle()
		leader, ok := w.client["n1"].Leader()
		require.True(t, ok)
		for _, n := range w.Nodes() {
			name := n.View().Self.Name
			leads := name == leader
			require.Equal(t, leads, telemetrytest.Has(n.System, "understudy_placement_specs", "running"))
			if leads {
				require.Equal(t, 2, telemetrytest.Value(t, n.System, "understudy_placement_specs", "running"))
			}
		}
	})
}

func page[T any](t *testing.T, n *cluster.Node, path string) (answer T) {
	t.Helper()
	w := httptest.NewRecorder()
	n.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), w.Body)
	return answer
}

func TestThePageOfEachNodeShowsWhatIsPlaced(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.spec("free"))
		w.submit(w.spec("bound").WithConstraints(placement.Constraints{RequiredNode: "n3"}))
		settle()
		for _, n := range w.Nodes() {
			d := page[struct {
				Placement struct {
					Coordinator string
					States      map[string]int
					Nodes       []struct{ Name string }
					Actors      []struct{ Label, Node string }
				}
				PlacementFailure string
			}](t, n, "/details")
			require.Empty(t, d.PlacementFailure)
			require.Equal(t, "n1", d.Placement.Coordinator)
			require.Equal(t, 2, d.Placement.States["running"])
			require.Len(t, d.Placement.Nodes, 3)
			require.Equal(t, "bound", d.Placement.Actors[0].Label)
			require.Equal(t, "n3", d.Placement.Actors[0].Node)
			require.Empty(t, page[statuspage.Snapshot](t, n, "/status").Problems)
		}
		w.Crash("n3")
		time.Sleep(time.Minute)
		for _, n := range w.Nodes() {
			problems := page[statuspage.Snapshot](t, n, "/status").Problems
			require.Equal(t, []status.Problem{{
				Kind: "placement", About: "bound", Text: `bound is not placed: no eligible nodes for "bound" among 2: removed by RequiredNode 2.`,
			}}, problems)
			require.Equal(t, problems[0].Text, page[statuspage.Actors](t, n, "/actors").Stuck)
		}
	})
}
