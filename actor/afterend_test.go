package actor_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestAfterEndCallsOnceWhenTheActorEndsOrHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		adapters := make(chan actor.ActorRef[int], 1)
		a := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
			adapters <- actor.Adapt(ctx, func(int) string { return "" })
			return behaviors.Receive(func(*actor.Context[string], string) actor.Behavior[string] { return behaviors.Stopped })
		}), "a")
		adapter := <-adapters
		var calls []string
		note := func(what string) func() { return func() { calls = append(calls, what) } }
		extension.AfterEnd(s, a, note("ref"))
		extension.AfterEnd(s, adapter, note("adapter"))
		extension.AfterEnd(s, a, note("never"))()
		synctest.Wait()
		require.Empty(t, calls)
		a.Tell("stop")
		synctest.Wait()
		require.Equal(t, []string{"ref", "adapter"}, calls)
		extension.AfterEnd(s, a, note("late"))()
		require.Equal(t, []string{"ref", "adapter", "late"}, calls)
		require.True(t, extension.Owns(s, a))
		require.True(t, extension.Owns(s, adapter))
	})
}

func TestASystemOwnsItsActorsOnly(t *testing.T) {
	s, other := testkit.NewSystem(t, testkit.WithoutEncoding()), testkit.NewSystem(t, testkit.WithoutEncoding())
	require.True(t, extension.Owns(s, actor.Resolve[int](s, "understudy://test/user/nobody")))
	require.False(t, extension.Owns(s, actor.Resolve[int](other, "understudy://test/user/nobody")))
	require.False(t, extension.Owns(s, actor.Resolve[int](s, "understudy://test@n2:7355/user/a")))
	require.False(t, extension.Owns(s, actor.ActorRef[int]{}))
}

func TestAPanicInAfterEndEndsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		ref := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[string], m string) actor.Behavior[string] {
			if m == "panic" {
				panic("handler")
			}
			return behaviors.Stopped
		}), "")
		called := 0
		for range 3 {
			extension.AfterEnd(s, ref, func() { called++; panic("boom") })
		}
		ref.Tell("panic")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, 3, called)
		require.NoError(t, s.Shutdown(t.Context()))
		require.Panics(t, func() { extension.AfterEnd(s, ref, nil) })
	})
}
