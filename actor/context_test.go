package actor_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestAContextKnowsItsActor(t *testing.T) {
	logs, entries := observer.New(zap.DebugLevel)
	inBubbleWith(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[any](t, s)
		ref := actor.Spawn(s, obedient(), "me")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			p.Ref().Tell(ctx.Self())
			p.Ref().Tell(ctx.System())
			p.Ref().Tell(len(ctx.Children()))
			a := actor.Spawn(ctx, obedient(), "a")
			b := actor.Spawn(ctx, behaviors.Ignore[int], "b")
			c := actor.Spawn(ctx, obedient(), "c")
			p.Ref().Tell([]actor.AnyRef{a, b, c})
			p.Ref().Tell(ctx.Children())
			ctx.Log().Info("hello", zap.Int("n", 1))
			ctx.Log().Info("hello again")
		}))
		p.Expect(ref)
		p.Expect(s)
		p.Expect(0)
		p.Expect(p.Receive()) // the children, oldest first
	}, actor.WithLogger(zap.New(logs)))
	require.Equal(t, []map[string]any{
		{"actor": "/user/me", "kind": "actor_test.order", "n": int64(1)}, {"actor": "/user/me", "kind": "actor_test.order"},
	}, []map[string]any{entries.All()[0].ContextMap(), entries.All()[1].ContextMap()})
}

func TestChildrenThatHaveEndedAreNoChildrenAnyMore(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		parent, child := parentOf(t, s, obedient())
		child.Tell(stop)
		p.ExpectTerminated(child)
		parent.Tell(do(func(ctx *actor.Context[order]) { p.Ref().Tell(fmt.Sprint(ctx.Children())) }))
		p.Expect("[]")
	})
}

func TestAContextIsDoneWhenItsActorStopsOrIsToldTo(t *testing.T) {
	type self = *actor.Context[order]
	for name, end := range map[string]func(ctx self, child actor.ActorRef[order]){
		"stopped by its parent": func(ctx self, child actor.ActorRef[order]) { ctx.Stop(child) },
		"stopping by itself":    func(_ self, child actor.ActorRef[order]) { child.Tell(stop) },
		"failing":               func(_ self, child actor.ActorRef[order]) { child.Tell(fail(errBoom)) },
		"with its parent":       func(ctx self, _ actor.ActorRef[order]) { ctx.Self().Tell(stop) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				contexts := testkit.NewProbe[context.Context](t, s)
				parent, child := parentOf(t, s, obedient())
				for range 2 { // the second is taken while the first is waited for
					child.Tell(do(func(ctx self) {
						context.AfterFunc(ctx, func() {})
						contexts.Ref().Tell(ctx)
					}))
				}
				ctx := contexts.Receive()
				require.NoError(t, ctx.Err())
				parent.Tell(do(func(ctx self) { end(ctx, child) }))
				<-ctx.Done()
				require.ErrorIs(t, ctx.Err(), context.Canceled)
				require.ErrorIs(t, context.Cause(ctx), context.Canceled)
			})
		})
	}
}

func TestAContextThatNobodyWaitedForIsDoneAllTheSame(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		contexts := testkit.NewProbe[context.Context](t, s)
		ref := actor.Spawn(s, obedient(), "")
		ref.Tell(do(func(ctx *actor.Context[order]) { contexts.Ref().Tell(ctx) }))
		ctx := contexts.Receive()
		ref.Tell(stop)
		settle()
		require.ErrorIs(t, ctx.Err(), context.Canceled)
		require.ErrorIs(t, context.Cause(ctx), context.Canceled)
		<-ctx.Done()
	})
}

func TestAContextOutlivesARestart(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		contexts := testkit.NewProbe[context.Context](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(obedient(), actor.Strategy{}), "")
		ref.Tell(do(func(ctx *actor.Context[order]) { contexts.Ref().Tell(ctx) }))
		ref.Tell(fail(errBoom))
		settle()
		require.NoError(t, contexts.Receive().Err())
	})
}

func TestTheValuesOfAContextAreInherited(t *testing.T) {
	type key string
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		base := context.WithValue(t.Context(), key("a"), "from the outside")
		base, cancel := context.WithDeadline(base, time.Now().Add(time.Hour))
		defer cancel()
		look := do(func(ctx *actor.Context[order]) {
			deadline, ok := ctx.Deadline()
			p.Ref().Tell(fmt.Sprintf("%v %v %v %v", ctx.Value(key("a")), ctx.Value(key("b")), time.Until(deadline), ok))
		})
		ref := actor.Spawn(s, obedient(), "parent", extension.WithContext(base))
		ref.Tell(look)
		p.Expect("from the outside <nil> 1h0m0s true")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			actor.Spawn(ctx, obedient(), "child").Tell(look)
			inner := context.WithValue(ctx, key("b"), "from the parent")
			actor.Spawn(ctx, obedient(), "other", extension.WithContext(inner)).Tell(do(func(ctx *actor.Context[order]) {
				actor.Spawn(ctx, obedient(), "grandchild").Tell(look)
			}))
		}))
		require.ElementsMatch(t, []string{
			"from the outside <nil> 1h0m0s true",
			"from the outside from the parent 1h0m0s true",
		}, []string{p.Receive(), p.Receive()})
	})
}

func TestAnActorWithoutAContextOfItsOwnHasNoDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[bool](t, s)
		actor.Spawn(s, obedient(), "").Tell(do(func(ctx *actor.Context[order]) {
			_, ok := ctx.Deadline()
			p.Ref().Tell(ok)
		}))
		p.Expect(false)
	})
}

func TestAnIdleActorHasNoGoroutine(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		settle()
		before := runtime.NumGoroutine()
		parent := actor.Spawn(s, obedient(), "parent", extension.WithContext(ctx))
		for range 100 {
			parent.Tell(do(func(self *actor.Context[order]) {
				inner, cancelInner := context.WithCancel(self)
				self.Defer(cancelInner)
				child := actor.Spawn(self, obedient(), "", extension.WithContext(inner))
				child.Tell(do(func(ctx *actor.Context[order]) {
					ctx.After("later", time.Hour, nil)
					ctx.SetReceiveTimeout(time.Hour, nil)
					context.AfterFunc(ctx, func() {})
				}))
			}))
		}
		settle()
		require.Less(t, runtime.NumGoroutine(), before+50)
	})
}

func TestAChildIsFoundByItsName(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		actor.Spawn(s, obedient(), "parent").Tell(do(func(ctx *actor.Context[order]) {
			child := actor.Spawn(ctx, obedient(), "child")
			found, ok := ctx.Child("child")
			none, missing := ctx.Child("other")
			p.Ref().Tell(fmt.Sprint(found == child, ok, none, missing))
		}))
		p.Expect("true true <nil> false")
	})
}
