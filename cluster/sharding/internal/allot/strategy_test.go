package allot

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// scoring gives the machine a strategy.
func scoring(score func(n home.Node, label string, v home.View) float64) func(*Config) {
	return func(c *Config) {
		c.Strategy = func(typ string) (Strategy, bool) {
			return Strategy{Name: "mine", Score: func(n home.Node, label, _ string, v home.View) float64 { return score(n, label, v) }}, typ == "cart"
		}
	}
}

func TestTheUsersStrategyChoosesNodesAndMoves(t *testing.T) {
	favourite := "b"
	r := newRig(t, scoring(func(n home.Node, label string, _ home.View) float64 {
		if n.Name == favourite || label == "cart/7" && n.Name == "a" {
			return 2
		}
		return 1
	}))
	r.join("a", "b", "c")
	r.pass(5 * time.Minute)
	require.Equal(t, map[string]int{"a": 1, "b": 7}, r.homes())
	require.Equal(t, "mine", r.m.Explain("cart", 0).Strategy)
	favourite = "c"
	r.pass(5 * time.Minute)
	require.Equal(t, map[string]int{"a": 1, "c": 7}, r.homes(), "cart/7 stays: c is no better than a")
}

func TestAmongEquallyGoodNodesTheOneWithTheFewestShardsIsChosen(t *testing.T) {
	r := newRig(t, scoring(func(home.Node, string, home.View) float64 { return 1 }))
	r.join("a")
	r.join("b", "c")
	r.pass(5 * time.Minute)
	require.Equal(t, map[string]int{"a": 8}, r.homes(), "no shard moves to a node that is no better")
	r.leave("a")
	require.Equal(t, map[string]int{"b": 4, "c": 4}, r.homes())
}

// A strategy by load ends with equal loads, and no shard moves from then on.
func TestMovesByALoadEnd(t *testing.T) {
	r := newRig(t, scoring(func(n home.Node, label string, _ home.View) float64 {
		require.NotContains(t, n.Actors, label, "it is rated as though it ran nowhere")
		return 1 / float64(1+len(n.Actors))
	}))
	r.join("a")
	require.Equal(t, map[string]int{"a": 8}, r.homes())
	r.join("b", "c")
	r.pass(5 * time.Minute)
	homes := r.homes()
	for _, n := range []string{"a", "b", "c"} {
		require.GreaterOrEqual(t, homes[n], 2, "%v", homes)
	}
	starts := r.starts
	r.pass(5 * time.Minute)
	require.Equal(t, starts, r.starts)
}

func TestWhereTheStrategyFailsTheDefaultChoosesAndItIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		score func(home.Node, string, home.View) float64
		why   string
	}{
		"a panic": {func(home.Node, string, home.View) float64 { panic("no idea") }, "panic: no idea"},
		"nothing": {func(home.Node, string, home.View) float64 { return 0 }, "no node"},
		"NaN":     {func(home.Node, string, home.View) float64 { return math.NaN() }, "no node"},
	} {
		t.Run(name, func(t *testing.T) {
			score := c.score
			r := newRig(t, scoring(func(n home.Node, label string, v home.View) float64 { return score(n, label, v) }))
			r.join("a")
			r.join("b")
			r.pass(5 * time.Minute)
			require.Equal(t, map[string]int{"a": 4, "b": 4}, r.homes())
			e := r.m.Explain("cart", 0)
			require.Equal(t, "LeastShards", e.Strategy)
			require.Contains(t, e.Why, "strategy mine has failed, and LeastShards is used")
			require.Contains(t, e.Why, c.why)
			said := 0
			for _, e := range r.effects {
				if f, ok := e.(StrategyFailed); ok {
					said++
					require.Equal(t, "mine", f.Strategy)
					require.Contains(t, f.Why, c.why)
				}
			}
			require.Equal(t, 1, said, "once for each problem")

			score = func(home.Node, string, home.View) float64 { return 1 }
			r.pass(time.Minute)
			require.Empty(t, r.m.Explain("cart", 0).Why, "it works again")
		})
	}
}
