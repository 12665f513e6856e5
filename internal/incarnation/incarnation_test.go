package incarnation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/incarnation"
)

func TestActorsAreOfTheProcessUnderAllItsIncarnations(t *testing.T) {
	for range 1000 {
		first := incarnation.Draw()
		actor := incarnation.FirstActor(first)
		require.Less(t, actor, uint64(1)<<60)
		for life, count := first, uint64(0); count < 1<<39; count = 2*count + 1 {
			require.NotZero(t, life)
			require.True(t, incarnation.HasActor(life, actor+count))
			require.True(t, incarnation.SameProcess(first, life))
			next := incarnation.Again(life)
			require.NotEqual(t, life, next)
			life = next
		}
		require.False(t, incarnation.HasActor(first, 0), "a path without a number is nobody's")
		require.False(t, incarnation.HasActor(first, actor+1<<41))
	}
}

func TestActorsAreOfNoOtherProcess(t *testing.T) {
	wrong := 0
	for range 100_000 {
		if incarnation.HasActor(incarnation.Draw(), incarnation.FirstActor(incarnation.Draw())) {
			wrong++
		}
	}
	require.LessOrEqual(t, wrong, 10)
}

func TestAnIncarnationThatSomebodyHasChosenSaysNothingOfItsProcess(t *testing.T) {
	require.Zero(t, incarnation.FirstActor(4711))
	require.False(t, incarnation.HasActor(4711, 12))
	require.False(t, incarnation.SameProcess(4711, 4712))
}
