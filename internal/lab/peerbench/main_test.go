package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

func TestEveryScenarioRunsOnEveryLibrary(t *testing.T) {
	var out, progress strings.Builder
	require.NoError(t, command(t.Context(), []string{"-rounds=1", "-scale=0.0005"}, &out, &progress))
	require.NotContains(t, out.String(), "failed", progress.String())
	for _, s := range bench.Scenarios {
		require.Contains(t, out.String(), s.What)
	}
	require.Contains(t, out.String(), "The best peer")
}

func TestOnlyWhatIsAskedForIsRun(t *testing.T) {
	var out, progress strings.Builder
	require.NoError(t, command(t.Context(), []string{"-rounds=2", "-scale=0.0005", "-scenarios=^tell-1$", "-libraries=understudy|channels"}, &out, &progress))
	require.Contains(t, out.String(), "| channels |")
	require.NotContains(t, out.String(), "hollywood")
	require.NotContains(t, out.String(), "tell-8")
	require.Equal(t, 4, strings.Count(progress.String(), "\n"))
}

func TestNamesThatNobodyHasAreAnError(t *testing.T) {
	var out strings.Builder
	require.ErrorContains(t, command(t.Context(), []string{"-scenarios=nothing"}, &out, &out), "no scenario")
}

func TestTheMedianIsTheMiddle(t *testing.T) {
	values := func(all ...float64) float64 {
		var r []bench.Result
		for _, v := range all {
			r = append(r, bench.Result{Value: v})
		}
		return median(r, func(r bench.Result) float64 { return r.Value })
	}
	require.InDelta(t, 2, values(3, 1, 2), 0)
	require.InDelta(t, 2.5, values(4, 3, 1, 2), 0)
}

func TestARowSaysWhetherItsGoalIsReached(t *testing.T) {
	ours := map[string]results{libraries[0].name: {good: []bench.Result{{Value: 499}}}}
	require.Equal(t, " The goal, 2.5 times, is reached.", row{bench.Scenario{Goal: 2.5}, ours}.goal(2.5))
	require.Equal(t, " The goal, 2.5 times, is not reached.", row{bench.Scenario{Goal: 2.5}, ours}.goal(2.4))
	require.Equal(t, " The goal, below 500, is reached.", row{bench.Scenario{Limit: 500}, ours}.goal(1))
	require.Equal(t, " The goal, below 499, is not reached.", row{bench.Scenario{Limit: 499}, ours}.goal(1))
	require.Empty(t, row{bench.Scenario{}, ours}.goal(1))
}
