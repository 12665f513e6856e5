package services_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/services"
	"github.com/understudy-go/understudy/testkit"
)

func TestAServiceThatNobodyHasAnyUseForIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		known := func() int { return services.Of(s).Len() }
		key := receptionist.NewKey[int]("used by who listens")
		listen := func() actor.ActorRef[int] {
			return actor.Spawn(s, func(ctx *actor.Context[int], next *actor.Next[int]) {
				receptionist.Subscribe(ctx.System(), key, extension.Handle(ctx, func(receptionist.Listing[int]) actor.Behavior[int] { return nil }))
				next.OnMessage = func(*actor.Context[int], int) actor.Behavior[int] {
					return func(_ *actor.Context[int], next *actor.Next[int]) { next.Stop() }
				}
			}, "")
		}
		one, other := listen(), listen()
		synctest.Wait()
		one.Tell(0)
		synctest.Wait()
		require.Equal(t, 1, known(), "one still listens")
		other.Tell(0)
		synctest.Wait()
		require.Zero(t, known())
		receptionist.Find(s, receptionist.NewKey[string]("used by who listens")) // of another type now
		require.Zero(t, known())
	})
}
