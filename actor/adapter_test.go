package actor_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// adapt spawns b, and returns it with an adapter that wrap makes messages for.
func adapt(t *testing.T, s *actor.System, b actor.Behavior[order], wrap func(int) order, opts ...actor.SpawnOption) (actor.ActorRef[order], actor.ActorRef[int]) {
	t.Helper()
	adapters := testkit.NewProbe[actor.ActorRef[int]](t, s)
	ref := actor.Spawn(s, b, "adapting", opts...)
	ref.Tell(do(func(ctx *actor.Context[order]) { adapters.Ref().Tell(actor.Adapt(ctx, wrap)) }))
	return ref, adapters.Receive()
}

func TestAnAdapterTakesItsPlaceAmongTheOtherMessages(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref, adapter := adapt(t, s, obedient(), func(n int) order { return say(p, fmt.Sprint("adapted ", n)) })
		for n := range 100 {
			ref.Tell(say(p, fmt.Sprint("plain ", n)))
			adapter.Tell(n)
		}
		for n := range 100 {
			p.Expect(fmt.Sprint("plain ", n))
			p.Expect(fmt.Sprint("adapted ", n))
		}
	})
}

// Here each adapter has a ref of its own, so both are used.
func TestTwoAdaptersOfOneTypeDoNotDisturbEachOther(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, obedient(), "adapting")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			older := actor.Adapt(ctx, func(int) order { return say(p, "older") })
			newer := actor.Adapt(ctx, func(int) order { return say(p, "newer") })
			older.Tell(1)
			newer.Tell(1)
		}))
		p.Expect("older")
		p.Expect("newer")
	})
}

func TestAnAdapterThatFailsFailsItsActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref, adapter := adapt(t, s, obedient(), func(int) order { panic(errBoom) })
		adapter.Tell(1)
		p.ExpectTerminated(ref)
	})
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref, adapter := adapt(t, s, behaviors.Supervise(obedient(), always(actor.Resume)), func(int) order { panic(errBoom) })
		adapter.Tell(1)
		ref.Tell(say(p, "goes on"))
		p.Expect("goes on")
	})
}

func TestAnAdapterMayUseTheStateOfItsActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		state := 0
		ref, adapter := adapt(t, s, obedient(), func(n int) order {
			state += n
			return say(p, fmt.Sprint(state))
		})
		adapter.Tell(20)
		ref.Tell(do(func(*actor.Context[order]) { state *= 2 }))
		adapter.Tell(2)
		p.Expect("20")
		p.Expect("42")
	})
}

func TestAnAdapterWorksAcrossRestartsUntilItsActorEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		ref, adapter := adapt(t, s, behaviors.Supervise(obedient(), actor.Strategy{}), func(int) order { return say(p, "adapted") })
		ref.Tell(fail(errBoom))
		adapter.Tell(1)
		p.Expect("adapted")
		ref.Tell(stop)
		p.ExpectTerminated(ref)
		adapter.Tell(2)
		dead.Expect(actor.DeadLetter{Recipient: ref.String(), Message: 2, Reason: actor.ErrTerminated})
	})
}

func TestAnAdapterIsBoundByTheMailboxOfItsActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		ref, adapter := adapt(t, s, obedient(), func(int) order { return say(p, "adapted") },
			actor.Bounded(1))
		release := make(chan struct{})
		ref.Tell(do(func(*actor.Context[order]) { <-release }))
		settle()
		adapter.Tell(1)
		adapter.Tell(2)
		dead.Expect(actor.DeadLetter{Recipient: ref.String(), Message: 2, Reason: actor.ErrMailboxFull})
		close(release)
		p.Expect("adapted")
		p.ExpectNone(time.Hour)
	})
}

func TestAHandlerTakesMessagesBesideTheBehavior(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		unhandled := unhandled(t, s)
		refs := testkit.NewProbe[actor.ActorRef[int]](t, s)
		ref := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			refs.Ref().Tell(extension.Handle(ctx, func(n int) actor.Behavior[order] {
				switch n {
				case 0:
					return nil
				case 1:
					return behaviors.Unhandled
				}
				return behaviors.Stopped
			}))
			return obedient().OnSignal(telling(p, "it"))
		}), "wrapper")
		handler := refs.Receive()
		handler.Tell(0)
		ref.Tell(say(p, "alive"))
		p.Expect("alive")
		handler.Tell(1)
		unhandled.Expect(actor.UnhandledMessage{Recipient: ref.Path(), Message: 1})
		handler.Tell(2)
		p.Expect("it PostStop")
	})
}

func TestWhatWaitsForAnAdapterOrAHandlerWhenTheActorStopsIsADeadLetterAsItWasTold(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		ref := actor.Spawn(s, obedient(), "wrapper")
		ref.Tell(func(ctx *actor.Context[order]) actor.Behavior[order] {
			actor.Adapt(ctx, func(int) order { return nil }).Tell(1)
			extension.Handle(ctx, func(string) actor.Behavior[order] { return nil }).Tell("two")
			return behaviors.Stopped
		})
		dead.Expect(actor.DeadLetter{Recipient: ref.String(), Message: 1, Reason: actor.ErrTerminated})
		dead.Expect(actor.DeadLetter{Recipient: ref.String(), Message: "two", Reason: actor.ErrTerminated})
	})
}

func TestAHandlerEndsWithItsIncarnation(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		refs := testkit.NewProbe[actor.ActorRef[string]](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			refs.Ref().Tell(extension.Handle(ctx, func(what string) actor.Behavior[order] {
				p.Ref().Tell(what)
				return nil
			}))
			return obedient()
		}), actor.Strategy{}), "wrapper")
		old := refs.Receive()
		ref.Tell(func(ctx *actor.Context[order]) actor.Behavior[order] {
			old.Tell("waits while the incarnation ends")
			return ctx.Fail(errBoom)
		})
		lost := dead.Receive()
		require.Equal(t, "waits while the incarnation ends", lost.Message)
		require.ErrorIs(t, lost.Reason, actor.ErrStaleHandler)
		refs.Receive().Tell("to the new one")
		p.Expect("to the new one")
		old.Tell("to the old one")
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrStaleHandler)
		p.ExpectNone(time.Hour)
	})
}

func TestAFailedAdapterIsASignalThatTheActorMayHandle(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		for _, accepts := range []bool{true, false} {
			ref := actor.Spawn(s, obedient().OnSignal(func(_ *actor.Context[order], sig actor.Signal) actor.Behavior[order] {
				if failed, ok := sig.(actor.AdaptFailed); ok {
					p.Ref().Tell(fmt.Sprint(failed.Message, " ", errors.Is(failed.Err, errBoom)))
					if !accepts {
						return behaviors.Unhandled
					}
				}
				return behaviors.Same
			}), "")
			ref.Tell(do(func(ctx *actor.Context[order]) {
				actor.Adapt(ctx, func(int) order { panic(errBoom) }).Tell(7)
			}))
			p.Expect("7 true")
			if accepts {
				ref.Tell(say(p, "goes on"))
				p.Expect("goes on")
			} else {
				p.ExpectTerminated(ref)
			}
		}
	})
}
