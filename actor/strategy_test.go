package actor_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

func TestTheDelayOfABackoff(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name    string
		backoff actor.Backoff
		attempt int
		min     time.Duration
		max     time.Duration
	}{
		{"none", actor.Backoff{}, 5, 0, 0},
		{"none, whatever the maximum", actor.Backoff{Max: time.Second}, 5, 0, 0},
		{"first", actor.Backoff{Min: 100 * ms, Max: time.Second}, 0, 100 * ms, 100 * ms},
		{"second", actor.Backoff{Min: 100 * ms, Max: time.Second}, 1, 200 * ms, 200 * ms},
		{"fourth", actor.Backoff{Min: 100 * ms, Max: time.Second}, 3, 800 * ms, 800 * ms},
		{"at the maximum", actor.Backoff{Min: 100 * ms, Max: time.Second}, 4, time.Second, time.Second},
		{"far beyond", actor.Backoff{Min: 100 * ms, Max: time.Second}, 1000, time.Second, time.Second},
		{"overflow", actor.Backoff{Min: 5, Max: math.MaxInt64}, 61, math.MaxInt64, math.MaxInt64},
		{"overflow of jitter", actor.Backoff{Min: 5, Max: math.MaxInt64, Jitter: 1}, 61, math.MaxInt64, math.MaxInt64},
		{"without a maximum", actor.Backoff{Min: 100 * ms}, 9, 100 * ms, 100 * ms},
		{"jitter", actor.Backoff{Min: 100 * ms, Max: time.Second, Jitter: 0.2}, 1, 200 * ms, 240 * ms},
		{"jitter at the maximum", actor.Backoff{Min: 100 * ms, Max: time.Second, Jitter: 0.5}, 9, time.Second, 1500 * ms},
	} {
		t.Run(test.name, func(t *testing.T) {
			seen := map[time.Duration]bool{}
			for range 1000 {
				d := test.backoff.Delay(test.attempt)
				require.GreaterOrEqual(t, d, test.min)
				require.LessOrEqual(t, d, test.max)
				seen[d] = true
			}
			if test.min < test.max {
				require.Greater(t, len(seen), 900, "jitter spreads")
			}
		})
	}
}

func TestABackoffIsResetAfterTheMeanOfItsBounds(t *testing.T) {
	require.Equal(t, 3*time.Second, actor.Backoff{Min: time.Second, Max: 5 * time.Second}.ResetAfter())
	require.Equal(t, time.Second, actor.Backoff{Min: time.Second}.ResetAfter())
	require.Zero(t, actor.Backoff{}.ResetAfter())
}

func TestAStrategyThatMakesNoSenseIsRefused(t *testing.T) {
	for name, s := range map[string]actor.Strategy{
		"limit":    {Limit: -1},
		"window":   {Window: -1},
		"capacity": {StashCapacity: -1},
		"min":      {Backoff: actor.Backoff{Min: -1}},
		"max":      {Backoff: actor.Backoff{Max: -1}},
		"jitter":   {Backoff: actor.Backoff{Jitter: -0.1}},
		"crossed":  {Backoff: actor.Backoff{Min: 2, Max: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, sys *actor.System) {
				err := failureOfChild(t, sys, behaviors.Supervise(obedient(), s))
				require.ErrorContains(t, err, "actor: supervision")
			})
		})
	}
}
