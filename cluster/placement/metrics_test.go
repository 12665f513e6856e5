package placement_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/telemetry"
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
			for _, f := range telemetry.Gather(n.System) {
				if f.Name != "understudy_placement_specs" {
					continue
				}
				if name != leader {
					require.Empty(t, f.Series)
					continue
				}
				require.Equal(t, telemetry.Series{Labels: []string{"running"}, Value: 2}, f.Series[0])
			}
		}
	})
}
