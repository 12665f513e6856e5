package main

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/needs"
)

// TestMain runs the test binary as a node if a test has started it as one.
func TestMain(m *testing.M) {
	if text := os.Getenv(nodeVariable); text != "" {
		exit(runNode(context.Background(), text))
	}
	os.Exit(m.Run())
}

// newTestStage starts real servers, or skips the test.
func newTestStage(t *testing.T, s settings) *stage {
	t.Helper()
	st, err := newStage(t.Context(), s)
	if errors.Is(err, errNoPostgres) {
		needs.Missing(t, "%v", err)
	}
	require.NoError(t, err)
	t.Cleanup(st.close)
	return st
}

func TestAKilledLeaderLosesNothingAndWritesNothingTwice(t *testing.T) {
	s := settings{rounds: 1, rate: 100, hold: time.Second, quick: true, names: "lock,understudy"}
	st := newTestStage(t, s)
	for _, o := range s.opponents() {
		trial, err := st.play(t.Context(), o, newLive(os.Stdout))
		require.NoError(t, err)
		require.NoError(t, trial.skipped)
		require.NoError(t, trial.stopped)
		require.Len(t, trial.outages, 1)
		require.Positive(t, trial.verdict.acked)
		require.Zero(t, trial.verdict.lost, o.name)
		require.Zero(t, trial.verdict.duplicates, o.name)
		require.Zero(t, trial.verdict.missing, o.name)
		require.Zero(t, trial.verdict.stale, o.name)
	}
}

func TestAnOpponentWithoutItsServerIsSkippedByName(t *testing.T) {
	_, missing := startKubeAPI("/no/such/program", "127.0.0.1")
	require.ErrorContains(t, missing, "make test-kubernetes")
	require.Equal(t, missing, (&stage{noKube: missing}).lack(opponents[0]))
}
