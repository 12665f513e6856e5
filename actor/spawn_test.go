package actor_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestANameIsTakenUntilItsActorHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		release := make(chan struct{})
		old := actor.Spawn(s, obedient().OnSignal(func(*actor.Context[order], actor.Signal) actor.Behavior[order] {
			<-release
			return behaviors.Same
		}), "x")
		spawn := func() { actor.Spawn(s, behaviors.Ignore[int], "x") }
		const taken = `actor: the name "x" is taken by a living child of /user; give it another name, or leave the name empty for a unique one`
		require.PanicsWithValue(t, taken, spawn)
		old.Tell(stop)
		settle()
		require.PanicsWithValue(t, taken, spawn, "it has not ended yet")
		actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			ctx.Watch(old)
			return obedient().OnSignal(func(*actor.Context[order], actor.Signal) actor.Behavior[order] {
				spawn()
				p.Ref().Tell("the name is free when the watcher knows")
				return behaviors.Same
			})
		}), "watcher")
		settle()
		close(release)
		p.Expect("the name is free when the watcher knows")
	})
}

func TestNobodyLearnsOfAnEndBeforeItsNameIsFree(t *testing.T) {
	var beforeItIsOver func()
	logs, _ := observer.New(zap.WarnLevel)
	log := zap.New(logs, zap.Hooks(func(zapcore.Entry) error { // of the dead letter
		beforeItIsOver()
		return nil
	}))
	inBubbleWith(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		old := actor.Spawn(s, obedient(), "x")
		beforeItIsOver = func() {
			actor.Spawn(s, obedient(), "watcher").Tell(do(func(ctx *actor.Context[order]) {
				ctx.WatchWith(old, do(func(*actor.Context[order]) {
					actor.Spawn(s, obedient(), "x")
					p.Ref().Tell("spawned")
				}))
			}))
			settle()
		}
		old.Tell(do(func(ctx *actor.Context[order]) {
			old.Tell(stop)
			old.Tell(say(p, "a dead letter"))
		}))
		p.Expect("spawned")
	}, actor.WithLogger(log))
}

func TestATakenNameInsideAnActorIsAnOrdinaryFailure(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		spawn := do(func(ctx *actor.Context[order]) { actor.Spawn(ctx, obedient(), "child") })
		ref := actor.Spawn(s, behaviors.Supervise(obedient(), always(actor.Resume)), "parent")
		ref.Tell(spawn)
		ref.Tell(spawn)
		ref.Tell(say(p, "alive"))
		p.Expect("alive")
	})
}

func TestTheSameNameUnderAnotherParentIsFree(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		actor.Spawn(s, family(p, "x", "x", "x"), "x")
		settle()
		actor.Resolve[order](s, "understudy://test/user/x/x/x").Tell(say(p, "the innermost"))
		p.Expect("the innermost")
	})
}

func TestNamesAreMadeOfHarmlessCharacters(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	for _, name := range []string{"a", "Z9", "a-b_c.d:e~f+g@h", strings.Repeat("long", 100)} {
		require.Equal(t, "understudy://test/user/"+name, actor.Spawn(s, behaviors.Ignore[int], name).Path())
	}
	for name, complaint := range map[string]string{
		"a/b":  `actor: name "a/b" contains '/'; letters, digits and -_.:~+@ are allowed`,
		"a b":  `actor: name "a b" contains ' '; letters, digits and -_.:~+@ are allowed`,
		"a#1":  `actor: name "a#1" contains '#'; letters, digits and -_.:~+@ are allowed`,
		"café": `actor: name "café" contains 'é'; letters, digits and -_.:~+@ are allowed`,
		"$a":   `actor: name "$a" begins with $, which is kept for names made by the system`,
	} {
		require.PanicsWithValue(t, complaint, func() { actor.Spawn(s, behaviors.Ignore[int], name) })
	}
}

func TestAnEmptyNameMakesAUniqueOne(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	paths := map[string]bool{}
	for range 1000 {
		ref := actor.Spawn(s, behaviors.Ignore[int], "")
		require.True(t, strings.HasPrefix(ref.Path(), "understudy://test/user/$"), ref.Path())
		paths[ref.Path()] = true
	}
	require.Len(t, paths, 1000)
}

func TestWhatIsSpawnedAfterTheEndOfItsParentHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[order](t, s)
		require.NoError(t, s.Shutdown(t.Context()))
		ref := actor.Spawn(s, behaviors.Setup(func(*actor.Context[int]) actor.Behavior[int] { panic("it must not run") }), "x")
		require.Equal(t, "understudy://test/user/x", ref.Path())
		ref.Tell(1)
		require.EqualValues(t, 1, s.DeadLetters())
		_, err := actor.Ask(t.Context(), p.Ref(), func(actor.ActorRef[int]) order { return nil })
		require.ErrorIs(t, err, actor.ErrTerminated)
	})
}

func TestAnActorStopsWhenItsContextIsDone(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ref := actor.Spawn(s, family(p, "parent", "child"), "parent", extension.WithContext(ctx))
		settle()
		cancel()
		p.Expect("child PostStop")
		p.Expect("parent PostStop")
		p.ExpectTerminated(ref)
	})
}

func TestAnActorWhoseContextIsDoneAlreadyEndsAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		ref := actor.Spawn(s, obedient(), "late", extension.WithContext(ctx))
		testkit.NewProbe[int](t, s).ExpectTerminated(ref)
	})
}

func TestTheDeadlineOfItsContextEndsAnActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		actor.Spawn(s, obedient().OnSignal(telling(p, "it")), "limited", extension.WithContext(ctx))
		p.ExpectNone(time.Second - 1)
		p.Expect("it PostStop")
	})
}

func TestTheErrorOfAContextIsTheSameBeforeAndAfterItsActorHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[error](t, s)
		given, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		lives := make(chan context.Context, 2)
		b := behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			lives <- ctx
			return obedient().OnSignal(func(ctx *actor.Context[order], _ actor.Signal) actor.Behavior[order] {
				p.Ref().Tell(ctx.Err())
				return behaviors.Same
			})
		})
		actor.Spawn(s, b, "limited", extension.WithContext(given))
		p.Expect(context.DeadlineExceeded)
		require.Equal(t, context.DeadlineExceeded, (<-lives).Err())

		later, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		actor.Spawn(s, b, "stopped", extension.WithContext(later)).Tell(stop)
		p.Expect(context.Canceled)
		time.Sleep(2 * time.Hour)
		require.Equal(t, context.Canceled, (<-lives).Err())
	})
}

func TestAnActorThatEndsLetsGoOfItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ctx := &countingContext{Context: t.Context()}
		ref := actor.Spawn(s, obedient(), "brief", extension.WithContext(ctx))
		settle()
		require.Equal(t, 1, ctx.waiting)
		ref.Tell(stop)
		settle()
		require.Equal(t, 0, ctx.waiting)
	})
}

// A countingContext counts the functions that wait for its end, which never comes.
type countingContext struct {
	context.Context
	waiting int
}

func (c *countingContext) Done() <-chan struct{} { return make(chan struct{}) }

func (c *countingContext) AfterFunc(func()) (stop func() bool) {
	c.waiting++
	return func() bool { c.waiting--; return true }
}

func TestSystemActorsLiveInATreeOfTheirOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref := actor.Spawn(extension.Framework(s), behaviors.Ignore[int], "x")
		require.Equal(t, "understudy://test/system/x", ref.Path())
		require.True(t, same(ref, actor.Resolve[int](s, ref.String())))
	})
}

func TestManyMaySpawnAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		for range 8 {
			go func() {
				for range 100 {
					actor.Spawn(s, behaviors.Setup(func(*actor.Context[int]) actor.Behavior[int] {
						p.Ref().Tell(1)
						return behaviors.Stopped
					}), "")
				}
			}()
		}
		for range 800 {
			p.Expect(1)
		}
	})
}
