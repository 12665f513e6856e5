//go:build race || understudy_debug

package actor_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestTheUseOfAContextByAnotherGoroutineIsNoticed(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		contexts := make(chan *actor.Context[order], 1)
		ref := actor.Spawn(s, obedient(), "it")
		ref.Tell(do(func(ctx *actor.Context[order]) { contexts <- ctx }))
		ctx := <-contexts
		settle()
		for name, misuse := range map[string]func(){
			"Log":                  func() { ctx.Log() },
			"Children":             func() { ctx.Children() },
			"Child":                func() { ctx.Child("x") },
			"Stop or Drain":        func() { ctx.Stop(ref) },
			"Spawn":                func() { actor.Spawn(ctx, obedient(), "child") },
			"Watch":                func() { ctx.Watch(ref) },
			"WatchWith":            func() { ctx.WatchWith(ref, nil) },
			"Unwatch":              func() { ctx.Unwatch(ref) },
			"Defer":                func() { ctx.Defer(func() {}) },
			"After":                func() { ctx.After("x", 0, nil) },
			"Every":                func() { ctx.Every("x", 1, nil) },
			"AtFixedRate":          func() { ctx.AtFixedRate("x", 1, nil) },
			"CancelTimer":          func() { ctx.CancelTimer("x") },
			"CancelTimers":         func() { ctx.CancelTimers() },
			"TimerActive":          func() { ctx.TimerActive("x") },
			"SetReceiveTimeout":    func() { ctx.SetReceiveTimeout(1, nil) },
			"CancelReceiveTimeout": func() { ctx.CancelReceiveTimeout() },
			"Adapt":                func() { actor.Adapt(ctx, func(int) order { return nil }) },
			"Handle":               func() { extension.Handle(ctx, func(int) actor.Behavior[order] { return nil }) },
			"Notify":               func() { ctx.Notify(nil) },
			"PipeToSelf": func() {
				actor.PipeToSelf(ctx, func(context.Context) (int, error) { return 0, nil }, func(int, error) order { return nil })
			},
			"AskToSelf": func() {
				actor.AskToSelf(ctx, ref, 0, func(actor.ActorRef[int]) order { return nil }, func(int, error) order { return nil })
			},
		} {
			require.PanicsWithValue(t, "actor: "+name+" with the Context of /user/it outside of its handlers, by another goroutine or kept by another actor: "+
				"tell the actor a message, or use PipeToSelf or AskToSelf; a goroutine may use the context.Context and refs", misuse, name)
		}
		require.True(t, ctx.Self() == ref)
		require.Same(t, s, ctx.System())
		require.NoError(t, ctx.Err())
	})
}

func TestTheUseOfAContextByAPipedFunctionIsItsError(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		outcomes := testkit.NewProbe[error](t, s)
		ref := actor.Spawn(s, obedient(), "it")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			actor.PipeToSelf(ctx, func(context.Context) (int, error) {
				ctx.Log()
				return 1, nil
			}, func(_ int, err error) order {
				return do(func(*actor.Context[order]) { outcomes.Ref().Tell(err) })
			})
		}))
		err := outcomes.Receive()
		var panicked *actor.PanicError
		require.ErrorAs(t, err, &panicked)
		require.ErrorContains(t, err, "Log with the Context of /user/it outside of its handlers")
		require.ErrorContains(t, err, "a goroutine may use the context.Context and refs")
	})
}

func TestEverythingThatRunsInsideAnActorMayUseItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		use := func(ctx *actor.Context[order], what string) {
			ctx.CancelTimers()
			p.Ref().Tell(what)
		}
		ref := actor.Spawn(s, obedient().OnSignal(func(ctx *actor.Context[order], sig actor.Signal) actor.Behavior[order] {
			if _, end := sig.(actor.PostStop); end {
				use(ctx, "PostStop")
			}
			return nil
		}), "it")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.Defer(func() { use(ctx, "deferred") })
			actor.Adapt(ctx, func(n int) order { use(ctx, "adapted"); return say(p, "-") }).Tell(1)
			actor.PipeToSelf(ctx, func(context.Context) (int, error) { return 0, nil },
				func(int, error) order { use(ctx, "piped"); return say(p, "-") })
			actor.AskToSelf(ctx, actor.ActorRef[int]{}, 0, func(actor.ActorRef[int]) int { return 0 },
				func(int, error) order { use(ctx, "asked"); return say(p, "-") })
		}))
		seen := map[string]int{}
		for range 6 {
			seen[p.Receive()]++
		}
		require.Equal(t, map[string]int{"adapted": 1, "piped": 1, "asked": 1, "-": 3}, seen)
		ref.Tell(stop)
		p.Expect("PostStop")
		p.Expect("deferred")
		p.ExpectNone(time.Second)
	})
}
