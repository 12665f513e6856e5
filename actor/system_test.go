package actor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestASystemKnowsItsNameAndAddress(t *testing.T) {
	log := zap.NewExample()
	local := actor.NewSystem("local", actor.WithLogger(log))
	require.Equal(t, "local", local.Name())
	require.Empty(t, local.Address())
	require.Same(t, log, local.Log())
	require.NoError(t, local.Shutdown(t.Context()))
	node := actor.NewSystem("cluster", extension.WithTransport("10.0.0.1:7000", &wire{}))
	require.Equal(t, "10.0.0.1:7000", node.Address())
	require.NoError(t, node.Shutdown(t.Context()))
}

func TestASystemNeedsAHarmlessName(t *testing.T) {
	for name, complaint := range map[string]string{
		"":    `actor: system name "" is empty; it must be 1 to 255 letters, digits and -_.:~+`,
		"a/b": `actor: system name "a/b" contains '/'; it must be 1 to 255 letters, digits and -_.:~+`,
		"a@b": `actor: system name "a@b" contains '@'; it must be 1 to 255 letters, digits and -_.:~+`,
	} {
		require.PanicsWithValue(t, complaint, func() { actor.NewSystem(name) })
	}
}

func TestShutdownStopsActorsOfTheUserBeforeThoseOfTheSystem(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		told := make(chan string, 10)
		named := func(name string) actor.Behavior[int] {
			return behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] { return behaviors.Same }).OnSignal(
				func(*actor.Context[int], actor.Signal) actor.Behavior[int] {
					time.Sleep(time.Second)
					told <- name
					return behaviors.Same
				})
		}
		actor.Spawn(extension.Framework(s), named("system"), "x")
		actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
			actor.Spawn(ctx, named("child"), "")
			return named("user")
		}), "x")
		settle()
		select {
		case <-s.Terminated():
			t.Fatal("it has not been shut down yet")
		default:
		}
		require.NoError(t, s.Shutdown(t.Context()))
		<-s.Terminated()
		close(told)
		var order []string
		for name := range told {
			order = append(order, name)
		}
		require.Equal(t, []string{"child", "user", "system"}, order)
	})
}

func TestShutdownNamesWhatStillRunsAndMayBeCalledAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		release := make(chan struct{})
		stuck := do(func(*actor.Context[order]) { <-release })
		parent, child := parentOf(t, s, obedient())
		child.Tell(stuck)
		other := actor.Spawn(extension.Framework(s), obedient(), "other")
		other.Tell(stuck)
		settle()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("out of patience"))
		defer cancel()
		err := s.Shutdown(ctx)
		name := parent.Path()[len("understudy://test"):]
		require.EqualError(t, err, "actor: shutdown of system test: phase actors-stop: still running: "+name+"/child, "+name+": out of patience")
		close(release)
		require.NoError(t, s.Shutdown(t.Context()))
		require.NoError(t, s.Shutdown(ctx), "when all is over, no patience is needed")
	})
}

func TestShutdownsWaitEachForItself(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		release := make(chan struct{})
		actor.Spawn(s, obedient(), "stuck").Tell(do(func(*actor.Context[order]) { <-release }))
		settle()
		patient := make(chan error, 3)
		for range cap(patient) {
			go func() { patient <- s.Shutdown(context.WithoutCancel(t.Context())) }()
		}
		settle()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, s.Shutdown(ctx), context.DeadlineExceeded)
		close(release)
		for range cap(patient) {
			require.NoError(t, <-patient)
		}
	})
}

func TestASystemThatWasShutDownStillAnswers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref := actor.Spawn(s, behaviors.Ignore[int], "x")
		dead := deadLetters(t, s)
		require.NoError(t, s.Shutdown(t.Context()))
		ref.Tell(1)
		s.Publish(1)
		extension.Dispatch(s, "/user/x", 0, 1)
		require.EqualValues(t, 2, s.DeadLetters())
		dead.ExpectNone(time.Hour)
		actor.ActorRef[int]{}.Tell(1)
		require.EqualValues(t, 2, s.DeadLetters(), "it runs no more")
	})
}

func TestAnEmptySystemShutsDown(t *testing.T) {
	require.NoError(t, actor.NewSystem("empty").Shutdown(t.Context()))
}

func TestActorsMaySpawnWhileTheSystemShutsDown(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		census, most := testkit.NewCensus(t), effort.Of(100, 1000, 1000)
		var breed func() actor.Behavior[order]
		breed = testkit.Counted(census, func() actor.Behavior[order] {
			return behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
				ctx.Every("again", time.Millisecond, do(func(ctx *actor.Context[order]) {
					if census.Running() < most {
						actor.Spawn(ctx, breed(), "")
						actor.Spawn(ctx.System(), breed(), "")
					}
				}))
				return obedient()
			})
		})
		actor.Spawn(s, breed(), "")
		time.Sleep(8 * time.Millisecond)
		require.NoError(t, s.Shutdown(t.Context()))
		require.Zero(t, census.Running())
		require.Greater(t, census.Started(), 10)
	})
}
