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
	require.Contains(t, out.String(), "Elsewhere: ")
}

func TestOnlyWhatIsAskedForIsRun(t *testing.T) {
	var out, progress strings.Builder
	require.NoError(t, command(t.Context(), []string{"-rounds=2", "-scale=0.0005", "-scenarios=^tell-1$", "-libraries=understudy|channels"}, &out, &progress))
	require.Contains(t, out.String(), "| channels |")
	require.NotContains(t, out.String(), "| hollywood")
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

// A field is what libraries have in a scenario.
func field(values map[string]float64) map[string]results {
	all := map[string]results{}
	for name, v := range values {
		all[name] = results{good: []bench.Result{{Value: v}}}
	}
	return all
}

// whole is a field in which all peers that the module proxy has take part. The best one has 250.
func whole(ours float64) map[string]results {
	return field(map[string]float64{"understudy": ours, "protoactor-go": 300, "protoactor-go, lock-free": 250, "hollywood": 260, "hollywood, large inboxes": 270})
}

func TestAGoalIsReachedWhenTheBestPeerRan(t *testing.T) {
	s := bench.Scenario{Name: "tell-1", Goal: 2.5, Elsewhere: []bench.Figure{{Library: bench.Goakt, Value: 1}, {Library: bench.Ergo, Value: 1}}}
	require.Contains(t, row{s, whole(100)}.verdict(), "Goal, 2.5 times ours: reached.")
	require.Contains(t, row{s, whole(101)}.verdict(), "Goal, 2.5 times ours: not reached.")
}

func TestAGoalIsNeverReachedWithoutTheBestPeer(t *testing.T) {
	leads := bench.Scenario{Name: "tell-1", Goal: 2.5, Elsewhere: []bench.Figure{{Library: bench.Goakt, Value: 163, Leads: true}, {Library: bench.Ergo, Value: 300}}}
	said := row{leads, whole(1)}.verdict()
	require.Contains(t, said, "open, because goakt did not run")
	require.Contains(t, said, "Elsewhere: goakt 163 (led), ergo 300.")
	require.Contains(t, row{leads, whole(101)}.verdict(), "not reached")

	with := whole(1)
	with[bench.Goakt] = results{good: []bench.Result{{Value: 163}}}
	require.Contains(t, row{leads, with}.verdict(), ": reached.")

	known := bench.Scenario{Name: "tell-1", Goal: 2.5, Elsewhere: []bench.Figure{{Library: bench.Goakt}, {Library: bench.Ergo}}}
	without := whole(1)
	delete(without, "hollywood")
	require.Contains(t, row{known, without}.verdict(), "open, because hollywood did not run")
	require.Contains(t, row{bench.Scenario{Name: "tell-1", Goal: 2.5}, whole(1)}.verdict(), "open, because goakt and ergo did not run")
}

func TestALimitAndAShareNeedNoPeer(t *testing.T) {
	ours := field(map[string]float64{"understudy": 500, withCodec: 300})
	require.Contains(t, row{bench.Scenario{Limit: 501}, ours}.verdict(), "Goal, below 501: reached.")
	require.Contains(t, row{bench.Scenario{Limit: 500}, ours}.verdict(), "Goal, below 500: not reached.")
	require.Contains(t, row{bench.Scenario{Share: 0.6}, ours}.verdict(), "We have 60 % of the throughput of channels, CBOR. Goal, 60 %: reached.")
	require.Contains(t, row{bench.Scenario{Share: 0.61}, ours}.verdict(), "not reached")
	require.Empty(t, row{bench.Scenario{}, ours}.verdict())
}
