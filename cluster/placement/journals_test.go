package placement_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// failOver lets n2 run the coordinator with another journal, and returns what it logs. "one" runs
// on n2.
func (w *world) failOver(other persistence.Journal) *observer.ObservedLogs {
	core, logs := observer.New(zap.ErrorLevel)
	w.join(w.Add("n2", func(name string, cfg *cluster.Config) {
		profile(name, cfg)
		cfg.Journal, cfg.Logger = other, zap.New(core)
	}))
	settle()
	w.submit(w.spec("one").WithConstraints(w.on("n2")))
	settle()
	require.NoError(w.t, w.Node("n1").Leave(w.t.Context()))
	settle()
	return logs
}

// told requires that the log says once what is wrong and what to do.
func told(t *testing.T, logs *observer.ObservedLogs, stopped bool) {
	t.Helper()
	lines := logs.FilterMessage("an actor runs that the journal of this node does not know; give all nodes the same cluster.Config.Journal").All()
	require.Len(t, lines, 1)
	require.Subset(t, lines[0].ContextMap(), map[string]any{"node": "n2", "label": "one", "on": "n2", "stopped": stopped})
}

func TestACoordinatorWithAnUntouchedJournalStopsNothing(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		told(t, w.failOver(journal.NewMemory()), false)
		now, _ := w.plan.alive()
		require.Equal(t, 1, now)
		_, err := w.client["n2"].Submit(t.Context(), w.spec("one"))
		require.NoError(t, err, "what is asked for replaces it")
		settle()
		now, peak := w.plan.alive()
		require.Equal(t, 1, now)
		require.Equal(t, 1, peak)
	})
}

func TestACoordinatorWithAnotherJournalSaysWhatItStops(t *testing.T) {
	other := journal.NewMemory()
	inWorld(t, 1, func(t *testing.T, w *world) { w.submit(w.spec("other")) }, func(cfg *setup) { cfg.Journal = other })
	inWorld(t, 1, func(t *testing.T, w *world) {
		told(t, w.failOver(other), true)
	})
}
