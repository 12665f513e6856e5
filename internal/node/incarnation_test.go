package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/node"
)

func TestActorsAreOfTheProcessUnderAllItsIncarnations(t *testing.T) {
	for range 1000 {
		first := node.NewIncarnation()
		actor := node.FirstActor(first)
		require.Less(t, actor, uint64(1)<<60)
		for life, count := first, uint64(0); count < 1<<39; count = 2*count + 1 {
			require.NotZero(t, life)
			require.True(t, node.HasActor(life, actor+count))
			require.True(t, node.SameProcess(first, life))
			next := node.RenewIncarnation(life)
			require.NotEqual(t, life, next)
			life = next
		}
		require.False(t, node.HasActor(first, 0), "a path without a number is nobody's")
		require.False(t, node.HasActor(first, actor+1<<41))
	}
}

func TestActorsAreOfNoOtherProcess(t *testing.T) {
	wrong := 0
	for range 100_000 {
		if node.HasActor(node.NewIncarnation(), node.FirstActor(node.NewIncarnation())) {
			wrong++
		}
	}
	require.LessOrEqual(t, wrong, 10)
}

func TestAnIncarnationThatSomebodyHasChosenSaysNothingOfItsProcess(t *testing.T) {
	require.Zero(t, node.FirstActor(4711))
	require.False(t, node.HasActor(4711, 12))
	require.False(t, node.SameProcess(4711, 4712))
}
