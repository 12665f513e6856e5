package actor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

func TestANilOptionOfASystemOrAnActorIsNamed(t *testing.T) {
	require.PanicsWithValue(t, "actor: option 2 is nil", func() { actor.NewSystem("x", actor.WithLogger(nil), nil) })
	s := testkit.NewSystem(t)
	require.PanicsWithValue(t, "actor: spawn: option 1 is nil", func() { actor.Spawn(s, behaviors.Empty[int], "a", nil) })
	actor.Spawn(s, behaviors.Empty[int], "a") // the name is free
}
