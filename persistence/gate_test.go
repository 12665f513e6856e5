package persistence

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAGateOpensOnlyWhenReady(t *testing.T) {
	for _, phase := range []phase{recovering, persisting, ended} {
		g := gate[int]{phase: phase, capacity: 2}
		require.False(t, g.free())
		require.True(t, g.wait(1))
		_, ok := g.next()
		require.False(t, ok)
		g.phase = ready
		require.False(t, g.free(), "one waits that came before")
		cmd, ok := g.next()
		require.True(t, ok)
		require.Equal(t, 1, cmd)
		require.True(t, g.free())
	}
}

func TestWaitingAndStashedCommandsShareTheCapacityOfAGate(t *testing.T) {
	g := gate[int]{capacity: 3}
	require.True(t, g.wait(1))
	require.True(t, g.stash(2))
	require.True(t, g.wait(3))
	require.False(t, g.wait(4))
	require.False(t, g.stash(5))
	require.Equal(t, []int{2, 1, 3}, g.drain())
	require.Empty(t, g.drain())
	require.True(t, g.wait(6))
}

func TestUnstashedCommandsComeFirstAndInOrder(t *testing.T) {
	g := gate[int]{phase: ready, capacity: 9}
	g.stash(1)
	g.stash(2)
	g.wait(3)
	g.unstash()
	g.wait(4)
	for want := 1; want <= 4; want++ {
		cmd, ok := g.next()
		require.True(t, ok)
		require.Equal(t, want, cmd)
		if want == 1 {
			g.stash(1) // again, for another time
		}
	}
	require.False(t, g.runnable())
	require.Equal(t, []int{1}, g.drain())
}
