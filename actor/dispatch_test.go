package actor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestDeliverAllTellsEachInOrderAndOthersAreDeadLetters(t *testing.T) {
	for name, opts := range map[string][]actor.SpawnOption{"plain": nil, "bounded": {actor.Bounded(10)}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[int](t, s)
				dead := deadLetters(t, s)
				ref := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
					p.Ref().Tell(n)
					return nil
				}), "x", opts...)
				extension.DispatchAll(s, "/user/x", uidOf(t, ref), []any{"zero", 1, 2, nil, 3.0, 4, "five"}, nil)
				p.Expect(1)
				p.Expect(2)
				p.Expect(4)
				for _, msg := range []any{"zero", nil, 3.0, "five"} {
					lost := dead.Receive()
					require.Equal(t, msg, lost.Message)
					require.ErrorIs(t, lost.Reason, actor.ErrWrongType)
				}
				p.ExpectNone(0)
			})
		})
	}
}

func TestDeliverAllToNobodyMakesDeadLetters(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		ref := actor.Spawn(s, behaviors.Stopped[int], "x")
		uid := uidOf(t, ref)
		settle()
		actor.Spawn(s, behaviors.Ignore[int], "x")
		for path, reason := range map[string]error{"/user/x": actor.ErrStaleRef, "/user/y": actor.ErrNoSuchActor} {
			extension.DispatchAll(s, path, uid, []any{1, 2}, nil)
			for n := range 2 {
				lost := dead.Receive()
				require.Equal(t, n+1, lost.Message)
				require.ErrorIs(t, lost.Reason, reason)
			}
		}
	})
}
