package behaviors_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

func TestAMonitorGetsACopyOfEachMessageBeforeItIsHandledAndOnlyOne(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		other := testkit.NewProbe[string](t, s)
		answer := behaviors.Receive(func(_ *actor.Context[string], word string) actor.Behavior[string] {
			p.Ref().Tell("handled " + word)
			return behaviors.Same
		})
		ref := actor.Spawn(s, behaviors.Monitor(p.Ref(), behaviors.Monitor(other.Ref(), behaviors.Monitor(p.Ref(), answer))), "it")
		ref.Tell("one")
		expectAll(p, "one", "handled one")
		other.Expect("one")
		p.ExpectNone(time.Hour)
		other.ExpectNone(time.Hour)
	})
}

func TestAMonitorThatABehaviorReturnsAgainAndAgainGetsOneCopy(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		copies := actor.Spawn(s, counting[int](p), "copies")
		var again func() actor.Behavior[int]
		again = func() actor.Behavior[int] {
			return behaviors.Monitor(copies, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] { return again() }))
		}
		ref := actor.Spawn(s, again(), "again")
		for n := range many {
			ref.Tell(n)
		}
		p.Expect(many)
		p.ExpectNone(time.Hour)
	})
}

func TestMessagesAndSignalsAreLoggedAtTheirLevelOnce(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	system := func(t *testing.T) *actor.System {
		return testkit.NewSystem(t, testkit.WithoutEncoding(), actor.WithLogger(zap.New(core)))
	}
	for _, test := range []struct {
		level zapcore.Level
		lines []string
	}{
		{zap.InfoLevel, []string{"message string hello", "message string stop", "signal actor.PostStop {}"}},
		{zap.DebugLevel, nil},
	} {
		t.Run(test.level.String(), func(t *testing.T) {
			s := system(t)
			p := testkit.NewProbe[string](t, s)
			ref := actor.Spawn(s, behaviors.LogMessages(test.level, behaviors.LogMessages(test.level, repeat(p))), "parrot")
			ref.Tell("hello")
			ref.Tell("stop")
			p.ExpectTerminated(ref)
			var lines []string
			for _, e := range logs.TakeAll() {
				fields := e.ContextMap()
				require.Equal(t, "/user/parrot", fields["actor"])
				lines = append(lines, fmt.Sprint(e.Message, " ", fields["type"], " ", fields["value"]))
			}
			require.Equal(t, test.lines, lines)
		})
	}
}

func TestLoggingThatABehaviorReturnsAgainAndAgainLogsOnce(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	s := testkit.NewSystem(t, testkit.WithoutEncoding(), actor.WithLogger(zap.New(core)))
	var again func() actor.Behavior[int]
	again = func() actor.Behavior[int] {
		return behaviors.LogMessages(zap.InfoLevel, behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
			if n == 100 {
				return behaviors.Stopped
			}
			return again()
		}))
	}
	ref := actor.Spawn(s, again(), "again")
	for n := range 101 {
		ref.Tell(n)
	}
	testkit.NewProbe[int](t, s).ExpectTerminated(ref)
	require.Equal(t, 101, logs.FilterMessage("message").Len())
}

// counting tells p how many messages there were, from the time on when they are many.
func counting[M any](p *testkit.Probe[int]) actor.Behavior[M] {
	n := 0
	return behaviors.Receive(func(*actor.Context[M], M) actor.Behavior[M] {
		if n++; n >= many {
			p.Ref().Tell(n)
		}
		return behaviors.Same
	})
}

// observed describes an observation without its time.
func observed(o behaviors.Observation) string {
	if o.Signal != nil {
		return fmt.Sprintf("%s %T", o.Actor.Path(), o.Signal)
	}
	return fmt.Sprintf("%s %v", o.Actor.Path(), o.Message)
}

const itself = "understudy://test/user/it"

func TestASpySeesAllThatIsHandledInOrderAfterItWasHandled(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		spy := testkit.NewProbe[behaviors.Observation](t, s)
		p := testkit.NewProbe[string](t, s)
		mortal := actor.Spawn(s, repeat(p), "mortal")
		b := behaviors.Setup(func(ctx *actor.Context[actor.ActorRef[string]]) actor.Behavior[actor.ActorRef[string]] {
			ctx.Watch(mortal)
			return behaviors.Receive(func(ctx *actor.Context[actor.ActorRef[string]], replyTo actor.ActorRef[string]) actor.Behavior[actor.ActorRef[string]] {
				if replyTo != p.Ref() {
					replyTo.Tell("reply")
					ctx.Self().Tell(p.Ref())
					mortal.Tell("stop")
				}
				return behaviors.Same
			}).OnSignal(func(*actor.Context[actor.ActorRef[string]], actor.Signal) actor.Behavior[actor.ActorRef[string]] {
				return behaviors.Same
			})
		})
		ref := actor.Spawn(s, behaviors.Spy(spy.Ref(), behaviors.Spy(spy.Ref(), b)), "it")
		started := time.Now()
		require.Equal(t, "reply", testkit.Ask(t.Context(), t, ref, func(r actor.ActorRef[string]) actor.ActorRef[string] { return r }))

		first := spy.Receive()
		require.NotNil(t, first.Message)
		require.Nil(t, first.Signal)
		require.Equal(t, started, first.At)
		require.Equal(t, ref.String(), first.Actor.String())
		require.Equal(t, itself+" "+p.Ref().Path(), fmt.Sprint(func() string {
			o := spy.Receive()
			return o.Actor.Path() + " " + o.Message.(actor.ActorRef[string]).Path()
		}()))
		require.Equal(t, itself+" actor.Terminated", observed(spy.Receive()))
		spy.ExpectNone(time.Hour)
	})
}

func TestASpySeesWhatFailsAndGoesOnAfterTheRestart(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		spy := testkit.NewProbe[behaviors.Observation](t, s)
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Spy(spy.Ref(), behaviors.Supervise(repeat(p), actor.Strategy{})), "it")
		for _, word := range []string{"one", "fail", "two", "stop"} {
			ref.Tell(word)
		}
		for _, want := range []string{"one", "fail", "actor.PreRestart", "two", "stop", "actor.PostStop"} {
			require.Equal(t, itself+" "+want, observed(spy.Receive()))
		}
	})
}

func TestASpyOnATreeSeesChildrenAndTheirChildren(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		spy := testkit.NewProbe[behaviors.Observation](t, s)
		var family func(depth int) actor.Behavior[int]
		family = func(depth int) actor.Behavior[int] {
			return behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
				if depth < 2 {
					actor.Spawn(ctx, family(depth+1), "child").Tell(depth + 1)
				}
				return behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] { return behaviors.Same })
			})
		}
		actor.Spawn(s, behaviors.SpyTree(spy.Ref(), family(0)), "it")
		require.ElementsMatch(t, []string{itself + "/child 1", itself + "/child/child 2"},
			[]string{observed(spy.Receive()), observed(spy.Receive())}, "they are observed by themselves")

		actor.Spawn(s, behaviors.Spy(spy.Ref(), family(0)), "alone").Tell(0)
		require.Equal(t, "understudy://test/user/alone 0", observed(spy.Receive()))
		spy.ExpectNone(time.Hour)
	})
}

func TestASpyOnATreeInsideOfATransformationSeesTheChildrenOfTheActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		spy := testkit.NewProbe[behaviors.Observation](t, s)
		inner := behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
			child := actor.Spawn(ctx, behaviors.Ignore[int], "child")
			return behaviors.Receive(func(ctx *actor.Context[int], n int) actor.Behavior[int] {
				child.Tell(n + 1)
				actor.Spawn(ctx, behaviors.Ignore[int], "later").Tell(n + 2)
				return behaviors.Same
			})
		})
		ref := actor.Spawn(s, behaviors.Transform(behaviors.SpyTree(spy.Ref(), inner), number), "it")
		ref.Tell("1")
		require.ElementsMatch(t, []string{itself + " 1", itself + "/child 2", itself + "/later 3"},
			[]string{observed(spy.Receive()), observed(spy.Receive()), observed(spy.Receive())})
		spy.ExpectNone(time.Hour)
	})
}

func TestASpyThatABehaviorReturnsAgainAndAgainSeesEachMessageOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		spy := actor.Spawn(s, counting[behaviors.Observation](p), "spy")
		var again func() actor.Behavior[int]
		again = func() actor.Behavior[int] {
			return behaviors.Spy(spy, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] { return again() }))
		}
		ref := actor.Spawn(s, again(), "again")
		for n := range many {
			ref.Tell(n)
		}
		p.Expect(many)
		p.ExpectNone(time.Hour)
	})
}

func TestASpyAndASpyOnTheTreeAreOneThatSeesTheTree(t *testing.T) {
	for name, spies := range map[string]func(actor.ActorRef[behaviors.Observation], actor.Behavior[int]) actor.Behavior[int]{
		"the tree inside": func(o actor.ActorRef[behaviors.Observation], b actor.Behavior[int]) actor.Behavior[int] {
			return behaviors.Spy(o, behaviors.SpyTree(o, b))
		},
		"the tree outside": func(o actor.ActorRef[behaviors.Observation], b actor.Behavior[int]) actor.Behavior[int] {
			return behaviors.SpyTree(o, behaviors.Spy(o, b))
		},
		"the tree later": func(o actor.ActorRef[behaviors.Observation], b actor.Behavior[int]) actor.Behavior[int] {
			return behaviors.Spy(o, behaviors.Receive(func(ctx *actor.Context[int], n int) actor.Behavior[int] {
				if n == 0 {
					return behaviors.SpyTree(o, b)
				}
				return behaviors.Same
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[behaviors.Observation](t, s)
				ref := actor.Spawn(s, spies(p.Ref(), behaviors.Receive(func(ctx *actor.Context[int], n int) actor.Behavior[int] {
					if n == 1 {
						actor.Spawn(ctx, behaviors.Ignore[int], "child").Tell(2)
					}
					return behaviors.Same
				})), "it")
				ref.Tell(0)
				require.Equal(t, 0, p.Receive().Message)
				ref.Tell(1)
				seen := map[any]string{}
				for range 2 {
					o := p.Receive()
					seen[o.Message] = o.Actor.Path()
				}
				require.Equal(t, map[any]string{1: ref.Path(), 2: ref.Path() + "/child"}, seen)
				p.ExpectNone(time.Hour)
			})
		})
	}
}
