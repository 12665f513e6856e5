package placement_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// Placement was started on n2 and n3 only, and n1 is the oldest.
func TestNodesWithoutPlacementDoNotLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, cfg: placement.Config{Factories: kinds}, name: t.Name(), plan: planOf(t.Name()), client: map[string]*placement.Coordinator{}}
		w.Cluster = clustertest.Start(t, 3, profile)
		w.join(w.Node("n2"))
		w.join(w.Node("n3"))
		settle()
		_, err := w.submitWithin("n3", 10*time.Second, w.spec("one"))
		require.NoError(t, err)
		leader, ok := w.client["n3"].Leader()
		require.True(t, ok)
		require.Equal(t, "n2", leader)
		o, err := within(w, 10*time.Second, func(ctx context.Context) (placement.Ownership, error) {
			return w.client["n3"].StartSingleton(ctx, counters.Singleton("two", origin{Plan: w.name}, placement.Leader()))
		})
		require.NoError(t, err, "the anchor Leader is the node of the coordinator")
		require.Equal(t, "n2", o.Owner)
		require.NoError(t, w.Node("n3").Leave(t.Context()))
	})
}
