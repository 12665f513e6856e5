package pace

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// shardOf returns the starter of a shard of n entities, which counts those that start.
func shardOf(n int, started *int) Starter {
	return func() (bool, bool) {
		if n == 0 {
			return false, false
		}
		n--
		*started++
		return true, n > 0
	}
}

func nobody(string) bool { return false }

func TestTheTypesOfANodeTakeTurnsAndShareOnePace(t *testing.T) {
	var p Pace
	var many, few, empty int
	for range 256 {
		p.Add("many", shardOf(10, &many))
		p.Add("many", shardOf(0, &empty))
	}
	for range 5 {
		p.Add("few", shardOf(2, &few))
	}
	for n := 1; p.Interval(nobody); n++ {
		require.Equal(t, min(n*AtOnce, 2570), many+few)
		p.Next(nobody)
		require.Equal(t, min(n*AtOnce, 2570), many+few, "no more in this interval")
		if n == 1 {
			require.Equal(t, 10, few)
		}
	}
	require.Equal(t, 2560, many)
	require.True(t, p.due.Empty())
}

func TestATypeWhoseEntitiesWaitToRecoverLosesItsTurns(t *testing.T) {
	var p Pace
	var crowded, other int
	p.Add("crowded", shardOf(100, &crowded))
	p.Add("other", shardOf(60, &other))
	isCrowded := func(typ string) bool { return typ == "crowded" }
	require.True(t, p.Interval(isCrowded))
	require.True(t, p.Interval(isCrowded))
	require.Equal(t, 60, other)
	require.Zero(t, crowded)
	require.True(t, p.Interval(isCrowded), "it looks again")
	require.True(t, p.Interval(nobody))
	require.Equal(t, AtOnce, crowded)
}
