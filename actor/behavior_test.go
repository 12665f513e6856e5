package actor_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/testkit"
)

func TestMessagesAreHandledOneAtATimeInTheOrderInWhichTheyWereTold(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		atWork := 0
		ref := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
			atWork++
			runtime.Gosched()
			p.Ref().Tell(n*10 + atWork)
			atWork--
			return behaviors.Same
		}), "worker")
		for n := range 1000 {
			ref.Tell(n)
		}
		for n := range 1000 {
			p.Expect(n*10 + 1)
		}
	})
}

func TestMessagesOfEachOfManySendersArriveInOrder(t *testing.T) {
	const senders, each = 8, 500
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[[2]int](t, s)
		for sender := range senders {
			go func() {
				for n := range each {
					p.Ref().Tell([2]int{sender, n})
				}
			}()
		}
		var next [senders]int
		for range senders * each {
			msg := p.Receive()
			require.Equal(t, next[msg[0]], msg[1])
			next[msg[0]]++
		}
	})
}

type counting interface{ counting() }

type (
	increment struct{}
	read      struct{ replyTo actor.ActorRef[int] }
)

func (increment) counting() {}
func (read) counting()      {}

func counter(n int) actor.Behavior[counting] {
	return behaviors.Receive(func(_ *actor.Context[counting], msg counting) actor.Behavior[counting] {
		switch msg := msg.(type) {
		case increment:
			return counter(n + 1)
		case read:
			msg.replyTo.Tell(n)
			return behaviors.Same
		}
		return behaviors.Unhandled
	})
}

func TestABehaviorThatIsReturnedHandlesTheNextMessage(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref := actor.Spawn(s, counter(0), "counter")
		for range 100 {
			ref.Tell(increment{})
		}
		require.Equal(t, 100, testkit.Ask(t.Context(), t, ref, func(r actor.ActorRef[int]) counting { return read{r} }))
	})
}

func TestAMillionTransitionsGrowNeitherStackNorSupervision(t *testing.T) {
	plain := func(b actor.Behavior[int]) actor.Behavior[int] { return b }
	setUp := func(b actor.Behavior[int]) actor.Behavior[int] {
		return behaviors.Setup(func(*actor.Context[int]) actor.Behavior[int] { return b })
	}
	supervised := func(b actor.Behavior[int]) actor.Behavior[int] {
		return behaviors.Supervise(behaviors.Supervise(b, actor.Strategy{Limit: 1}), actor.Strategy{Limit: 2})
	}
	withSignals := func(b actor.Behavior[int]) actor.Behavior[int] {
		return b.OnSignal(func(*actor.Context[int], actor.Signal) actor.Behavior[int] { return behaviors.Same })
	}
	for _, test := range []struct {
		name        string
		wrap        func(next actor.Behavior[int]) actor.Behavior[int]
		transitions int
	}{
		{"plain", plain, effort.Of(100_000, 1_000_000, 1_000_000)},
		{"set up", setUp, effort.Of(10_000, 100_000, 100_000)},
		{"supervised", supervised, effort.Of(10_000, 100_000, 100_000)},
		{"with another signal handler", withSignals, effort.Of(10_000, 100_000, 100_000)},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[int](t, s)
				var state func(n int) actor.Behavior[int]
				state = func(n int) actor.Behavior[int] {
					return behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
						if n == 2 || n == test.transitions {
							p.Ref().Tell(stackDepth())
						}
						return test.wrap(state(n + 1))
					})
				}
				ref := actor.Spawn(s, test.wrap(state(1)), "machine")
				before := heapInUse()
				for range test.transitions / 1000 {
					for range 1000 {
						ref.Tell(0)
					}
					settle()
				}
				after2 := p.Receive()
				require.InDelta(t, after2, p.Receive(), 2, "the depth of the stack") // a message that waits alone has one frame less
				require.Less(t, heapInUse()-before, int64(8<<20))
			})
		})
	}
}

func heapInUse() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapInuse)
}

func stackDepth() int { return runtime.Callers(0, make([]uintptr, 1000)) }

func TestABehaviorThatFillsInNothingIsTheSame(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, obedient(), "soldier")
		for _, same := range []actor.Behavior[order]{
			nil, behaviors.Same[order], func(*actor.Context[order], *actor.Next[order]) {},
		} {
			ref.Tell(func(*actor.Context[order]) actor.Behavior[order] { return same })
			ref.Tell(say(p, "still here"))
			p.Expect("still here")
		}
	})
}

func TestABehaviorMayChangeItsSignalHandlerAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, obedient().OnSignal(telling(p, "old")), "soldier")
		ref.Tell(func(*actor.Context[order]) actor.Behavior[order] {
			return actor.Behavior[order](behaviors.Same[order]).OnSignal(telling(p, "new"))
		})
		ref.Tell(say(p, "same messages"))
		ref.Tell(stop)
		p.Expect("same messages")
		p.Expect("new PostStop")
	})
}

func TestABehaviorThatHandlesMessagesAloneKeepsTheSignalHandler(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, obedient().OnSignal(telling(p, "kept")), "soldier")
		ref.Tell(func(*actor.Context[order]) actor.Behavior[order] {
			return func(_ *actor.Context[order], next *actor.Next[order]) {
				next.OnMessage = func(ctx *actor.Context[order], o order) actor.Behavior[order] { return o(ctx) }
			}
		})
		ref.Tell(stop)
		p.Expect("kept PostStop")
	})
}

func TestAnUnhandledMessageIsPublishedAndChangesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		unhandled := unhandled(t, s)
		ref := actor.Spawn(s, counter(7), "counter")
		ref.Tell(nil)
		unhandled.Expect(actor.UnhandledMessage{Recipient: ref.Path()})
		require.Equal(t, 7, testkit.Ask(t.Context(), t, ref, func(r actor.ActorRef[int]) counting { return read{r} }))
	})
}

func TestAnUnhandledUnhandledMessageDoesNotGoRoundInCircles(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		handled := 0
		ref := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[any], _ any) actor.Behavior[any] {
			handled++
			return behaviors.Unhandled
		}), "everything")
		actor.Subscribe(s, ref)
		s.Publish("anything")
		settle()
		require.Equal(t, 2, handled, "the event, and that it was unhandled")
	})
}

func TestASignalValueThatIsToldAsAMessageIsAMessage(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		unhandled := unhandled(t, s)
		ref := actor.Spawn(s, behaviors.Empty[actor.Signal], "empty")
		ref.Tell(actor.Terminated{Ref: ref})
		unhandled.Expect(actor.UnhandledMessage{Recipient: ref.Path(), Message: actor.Terminated{Ref: ref}})
		ref.Tell(actor.PostStop{})
		unhandled.Expect(actor.UnhandledMessage{Recipient: ref.Path(), Message: actor.PostStop{}})
	})
}

func TestAFirstBehaviorMustHandleMessagesOrStop(t *testing.T) {
	for name, first := range map[string]actor.Behavior[int]{
		"Same":      behaviors.Same[int],
		"Unhandled": behaviors.Unhandled[int],
		"a setup that returns Same": behaviors.Setup(func(*actor.Context[int]) actor.Behavior[int] {
			return behaviors.Same
		}),
		"a setup that returns nil": behaviors.Setup(func(*actor.Context[int]) actor.Behavior[int] { return nil }),
		"supervised Same":          behaviors.Supervise(behaviors.Same[int], actor.Strategy{}),
		"messages, unhandled": func(_ *actor.Context[int], next *actor.Next[int]) {
			next.OnMessage = func(*actor.Context[int], int) actor.Behavior[int] { return behaviors.Same }
			next.Unhandled()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				failure := failureOfChild(t, s, first)
				require.ErrorContains(t, failure, "the first behavior must handle messages or stop")
			})
		})
	}
}

// failureOfChild spawns b and returns the error that it fails with.
func failureOfChild[M any](t *testing.T, s *actor.System, b actor.Behavior[M]) error {
	t.Helper()
	p := testkit.NewProbe[error](t, s)
	parent := behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
		ctx.Watch(actor.Spawn(ctx, b, "child"))
		return obedient().OnSignal(func(_ *actor.Context[order], sig actor.Signal) actor.Behavior[order] {
			switch sig := sig.(type) {
			case actor.ChildFailed:
				p.Ref().Tell(sig.Err)
			case actor.Terminated:
				p.Ref().Tell(errors.New("it did not fail"))
			case actor.PostStop, actor.PreRestart, actor.AdaptFailed:
			}
			return behaviors.Same
		})
	})
	actor.Spawn(s, behaviors.Supervise(parent, always(actor.Resume)), "") // in case that the child escalates
	return p.Receive()
}

func TestANilFirstBehaviorIsAWiringError(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	require.PanicsWithValue(t, `actor: nil behavior for actor "x"`, func() { actor.Spawn[int](s, nil, "x") })
}

func TestFailFailsTheActorAsAPanicWould(t *testing.T) {
	boom := errors.New("boom")
	for name, o := range map[string]order{
		"Context.Fail": fail(boom),
		"Next.Fail": func(*actor.Context[order]) actor.Behavior[order] {
			return func(_ *actor.Context[order], next *actor.Next[order]) { next.Fail(boom) }
		},
		"a panic": func(*actor.Context[order]) actor.Behavior[order] { panic(boom) },
		"a panic in the behavior returned": func(*actor.Context[order]) actor.Behavior[order] {
			return func(*actor.Context[order], *actor.Next[order]) { panic(boom) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				err := failureOfChild(t, s, behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
					ctx.Self().Tell(o)
					return obedient()
				}))
				require.ErrorIs(t, err, boom)
			})
		})
	}
}

func TestAPanicKeepsItsValueAndTheStackOfWhoPanicked(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		err := failureOfChild(t, s, behaviors.Setup(func(*actor.Context[int]) actor.Behavior[int] { panic("boom") }))
		var p *actor.PanicError
		require.ErrorAs(t, err, &p)
		require.Equal(t, "boom", p.Value)
		require.EqualError(t, p, "panic: boom")
		require.NoError(t, p.Unwrap())
		require.Contains(t, string(p.Stack), "TestAPanicKeepsItsValueAndTheStackOfWhoPanicked")
	})
}
