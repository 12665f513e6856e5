package singleton_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/inspect"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// The instance is not disturbed: its journal is claimed once, by itself.
func TestWhatASingletonHasStoredIsFoundByItsName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := testkit.NewSystem(t), journal.NewMemory()
		sum := func() actor.Behavior[int] {
			return behaviors.EventSourced("sum", store, 0, func(sum, i int) int { return sum + i },
				func(_ *actor.Context[int], _, i int) persistence.Effect[int] { return persistence.Persist(i) })
		}
		ref := actor.Spawn(s, behaviors.Singleton(sum), "sum")
		actor.Spawn(s, behaviors.Singleton(func() actor.Behavior[int] { return behaviors.Ignore }), "plain")
		actor.Spawn(s, behaviors.Singleton(func() actor.Behavior[int] { panic(errors.New("no connection")) }), "broken")
		synctest.Wait()
		for _, i := range []int{1, 2, 3} {
			ref.Tell(i)
		}
		synctest.Wait()
		look, _ := inspect.Find(s, inspect.SingletonType)
		found, err := look(t.Context(), "sum", inspect.Query{At: 2, Events: 1})
		require.NoError(t, err)
		require.Equal(t, 3, found.State)
		require.Equal(t, 2, found.Events[0].Event)
		ref.Tell(4)
		synctest.Wait()
		found, err = look(t.Context(), "sum", inspect.Query{})
		require.NoError(t, err)
		require.Equal(t, 10, found.State, "the instance writes on")

		_, err = look(t.Context(), "plain", inspect.Query{})
		require.ErrorIs(t, err, inspect.ErrNotSourced)
		_, err = look(t.Context(), "broken", inspect.Query{})
		require.ErrorContains(t, err, "what makes the actor has failed before it came to what is stored: panic: no connection")
		require.NotErrorIs(t, err, inspect.ErrNotSourced)
		_, err = look(t.Context(), "nobody", inspect.Query{})
		require.ErrorIs(t, err, inspect.ErrNoSingleton)
		require.ErrorContains(t, err, `"nobody", but broken, plain, sum`)

		owner := actor.Spawn(s, func(ctx *actor.Context[string], next *actor.Next[string]) {
			actor.Spawn(ctx, behaviors.Singleton(sum), "inner")
			next.OnMessage = func(*actor.Context[string], string) actor.Behavior[string] { return behaviors.Stopped }
		}, "owner")
		synctest.Wait()
		_, err = look(t.Context(), "owner/inner", inspect.Query{})
		require.NoError(t, err)
		owner.Tell("end")
		synctest.Wait()
		_, err = look(t.Context(), "owner/inner", inspect.Query{})
		require.ErrorIs(t, err, inspect.ErrNoSingleton)
		late, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = look(late, "plain", inspect.Query{})
		require.Error(t, err)
	})
}
