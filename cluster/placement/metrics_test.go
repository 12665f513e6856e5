package placement_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/telemetry/telemetrytest"
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
