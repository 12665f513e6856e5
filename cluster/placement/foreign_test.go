package placement_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/persistence/generations"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A record of the source that cannot be decoded affects one singleton only.
func TestOneUnreadableSingletonDoesNotHoldUpAllOthers(t *testing.T) {
	source := generations.NewMemory()
	inWorld(t, 3, func(t *testing.T, w *world) {
		_, err := w.client["n2"].StartSingleton(t.Context(), counters.Singleton("two", origin{Plan: w.name}, placement.Role("role-n2")))
		require.NoError(t, err)
		settle()
		require.NoError(t, source.PutSpec(t.Context(), "bad", []byte{0xff}))
		w.Kill("n1")
		time.Sleep(2 * time.Minute)
		o, err := within(w, 20*time.Second, func(ctx context.Context) (placement.Ownership, error) { return w.client["n2"].Singleton(ctx, "two") })
		require.NoError(t, err)
		require.Equal(t, placement.SingletonActive, o.Phase)
		_, err = w.client["n2"].StartSingleton(t.Context(), counters.Singleton("three", origin{Plan: w.name}, placement.Role("role-n2")))
		require.NoError(t, err)
	}, func(cfg *placement.Config) { cfg.Generations = source })
}

// Placement was started on n2 and n3 only, and n1 is the oldest.
func TestNodesWithoutPlacementDoNotLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, cfg: placement.Config{Journal: journal.NewMemory(), Factories: kinds}, name: t.Name(), plan: planOf(t.Name()), client: map[string]*placement.Coordinator{}}
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
