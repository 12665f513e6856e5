package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/page"
	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

func TestEveryScenarioRunsOnEveryLibrary(t *testing.T) {
	var out, progress strings.Builder
	require.NoError(t, command(t.Context(), []string{"-rounds=1", "-scale=0.0005"}, &out, &progress))
	require.NotContains(t, out.String(), "failed", progress.String())
	for _, s := range bench.Scenarios {
		if s.Only {
			require.Regexp(t, `\| `+s.Grows+`[^#]*\| `+strconv.Itoa(s.Many)+` \| [0-9.]+ `, out.String())
		} else {
			require.Contains(t, out.String(), s.What)
		}
	}
	require.Contains(t, out.String(), "goakt: did not run.")
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

// whole is a field in which all peers take part. The best one has 250.
func whole(ours float64) map[string]results {
	return field(map[string]float64{"understudy": ours, "protoactor-go": 300, "protoactor-go, lock-free": 250, "hollywood": 260, "hollywood, large inboxes": 270, bench.Goakt: 280, bench.Ergo: 290})
}

func TestAGoalIsReachedWhenTheBestPeerRan(t *testing.T) {
	s := bench.Scenario{Name: "tell-1", Goal: 2.5}
	require.Contains(t, row{s, whole(100)}.verdict(nil), "Goal, 2.5 times ours: reached (2.50).")
	require.Contains(t, row{s, whole(101)}.verdict(nil), "Goal, 2.5 times ours: **not reached** (2.48).")
}

func TestAGoalIsNeverReachedWithoutAPeer(t *testing.T) {
	s := bench.Scenario{Name: "tell-1", Goal: 2.5}
	for peer := range whole(1) {
		if peer == "understudy" {
			continue
		}
		without := whole(1)
		delete(without, peer)
		require.Contains(t, row{s, without}.verdict(nil), "open, because "+peer+" did not run")
	}
	without := whole(101)
	delete(without, "hollywood")
	require.Contains(t, row{s, without}.verdict(nil), "not reached")
	require.NotContains(t, row{s, field(map[string]float64{"understudy": 1})}.verdict(nil), "reached")
}

func TestAGoalForTheP99IsThatOfTheBestP99(t *testing.T) {
	all := whole(100)
	for name, p99 := range map[string]time.Duration{"understudy": 20, "protoactor-go": 90, "hollywood": 30} {
		all[name].good[0].P99 = p99
	}
	for _, l := range []string{"protoactor-go, lock-free", "hollywood, large inboxes", bench.Goakt, bench.Ergo} {
		all[l].good[0].P99 = 100
	}
	require.Equal(t, "Goal, a p99 of 1.5 times ours: reached (1.50).", row{bench.Scenario{Name: "tell-1", GoalP99: 1.5}, all}.verdict(nil))
	require.Equal(t, "Goal, a p99 of 1.6 times ours: **not reached** (1.50).", row{bench.Scenario{Name: "tell-1", GoalP99: 1.6}, all}.verdict(nil))
}

func TestALimitAndAShareNeedNoPeer(t *testing.T) {
	ours := field(map[string]float64{"understudy": 500, withCodec: 300, bare: 400})
	require.Contains(t, row{bench.Scenario{Limit: 501}, ours}.verdict(nil), "Goal, below 501: reached.")
	require.Contains(t, row{bench.Scenario{Limit: 500}, ours}.verdict(nil), "Goal, below 500: **not reached**.")
	require.Contains(t, row{bench.Scenario{Share: 0.6}, ours}.verdict(nil), "We have 60 % of the throughput of channels, CBOR. Goal, 60 %: reached.")
	require.Contains(t, row{bench.Scenario{Share: 0.61}, ours}.verdict(nil), "not reached")
	require.Contains(t, row{bench.Scenario{Bare: 1.3}, ours}.verdict(nil), "Goal, at most 1.3 times channels: reached (1.25).")
	require.Contains(t, row{bench.Scenario{Bare: 1.2}, ours}.verdict(nil), "not reached")
	require.Empty(t, row{bench.Scenario{}, ours}.verdict(nil))
}

func TestAnEntityIsComparedWithAPlainActor(t *testing.T) {
	plain := []row{{bench.Scenario{Name: "plain"}, whole(100)}}
	s := bench.Scenario{Plain: "plain", Most: 1.25}
	require.Equal(t, "This is 1.25 times `plain`. Goal, at most 1.25: reached.", row{s, whole(125)}.verdict(plain))
	require.Contains(t, row{s, whole(126)}.verdict(plain), "not reached")
	require.Empty(t, row{s, whole(126)}.verdict(nil))
	names := map[string]bool{"": true}
	for _, s := range bench.Scenarios {
		names[s.Name] = true
	}
	for _, s := range bench.Scenarios {
		require.True(t, names[s.Plain], s.Plain)
	}
}

func TestGrowthIsOneTableAndAPlot(t *testing.T) {
	grown := func(grows string, many int, only bool, ours float64) row {
		return row{bench.Scenario{Name: fmt.Sprint(grows, many), What: "what", Grows: grows, Many: many, Only: only}, whole(ours)}
	}
	all := table{rows: []row{grown("actors", 1, false, 40), grown("asks", 7, false, 60), grown("asks", 70, true, 61), grown("actors", 10, true, 41)}}
	said := all.String()
	require.Contains(t, said, "| actors | 1 | 40.0 | 300 |")
	require.Contains(t, said, " |\n|  | 10 | 41.0 | 300 |")
	require.Contains(t, said, "| asks | 7 | 60.0 | 300 |")
	require.Equal(t, 2, strings.Count(said, "### what"), "those that have a table of their own")
	require.Equal(t, []page.Curve{
		{Name: "actors", Points: []page.Point{{X: 1, Y: 40}, {X: 10, Y: 41}}},
		{Name: "asks", Points: []page.Point{{X: 7, Y: 60}, {X: 70, Y: 61}}},
	}, all.plot().Curves)
}
