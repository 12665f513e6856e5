package actor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// A question is the request to the actors of these tests.
type question struct{ replyTo actor.ActorRef[int] }

func ask(replyTo actor.ActorRef[int]) question { return question{replyTo} }

// answering answers every question by f.
func answering(f func(ctx *actor.Context[question], q question)) actor.Behavior[question] {
	return behaviors.Receive(func(ctx *actor.Context[question], q question) actor.Behavior[question] {
		f(ctx, q)
		return behaviors.Same
	})
}

func silent() actor.Behavior[question] {
	return answering(func(*actor.Context[question], question) {})
}

func TestAskReturnsTheReply(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref := actor.Spawn(s, answering(func(_ *actor.Context[question], q question) { q.replyTo.Tell(42) }), "wise")
		n, err := actor.Ask(t.Context(), ref, ask)
		require.NoError(t, err)
		require.Equal(t, 42, n)
	})
}

func TestAskEndsWithItsContextAndNamesTargetAndTime(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref := actor.Spawn(s, silent(), "silent")
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := actor.Ask(ctx, ref, ask)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, err, "ask understudy://test/user/silent: no reply after 50ms, and the handler of its request has returned: context deadline exceeded")
	})
}

func TestAskWithAContextThatHasEndedAsksNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[question](t, s)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := actor.Ask(ctx, p.Ref(), ask)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "nothing was asked")
		p.ExpectNone(time.Hour)
	})
}

func TestAskOfAnActorThatHasEndedFailsAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref := actor.Spawn(s, behaviors.Stopped[question], "gone")
		testkit.NewProbe[int](t, s).ExpectTerminated(ref)
		for _, target := range []actor.ActorRef[question]{
			ref,
			actor.Resolve[question](s, ref.String()),
			actor.Resolve[question](s, "understudy://test/user/nobody"),
		} {
			dead := deadLetters(t, s)
			start := time.Now()
			_, err := actor.Ask(context.Background(), target, ask)
			require.ErrorIs(t, err, actor.ErrTerminated)
			require.ErrorContains(t, err, target.Path())
			require.Zero(t, time.Since(start))
			require.IsType(t, question{}, dead.Receive().Message)
			dead.Stop()
		}
	})
}

func TestAskEndsWhenItsTargetEndsWithoutAReply(t *testing.T) {
	for name, end := range map[string]func(*actor.Context[question]) actor.Behavior[question]{
		"stopping": func(*actor.Context[question]) actor.Behavior[question] { return behaviors.Stopped },
		"failing":  func(ctx *actor.Context[question]) actor.Behavior[question] { return ctx.Fail(errBoom) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				ref := actor.Spawn(s, behaviors.Receive(
					func(ctx *actor.Context[question], _ question) actor.Behavior[question] {
						time.Sleep(time.Second)
						return end(ctx)
					}), "mortal")
				start := time.Now()
				_, err := actor.Ask(context.Background(), ref, ask)
				require.ErrorIs(t, err, actor.ErrTerminated)
				require.EqualError(t, err, "ask understudy://test/user/mortal: actor: terminated before it replied")
				require.Equal(t, time.Second, time.Since(start))
			})
		})
	}
}

func TestAReplyThatComesJustBeforeTheEndCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		for range 200 {
			ref := actor.Spawn(s, behaviors.Receive(
				func(_ *actor.Context[question], q question) actor.Behavior[question] {
					q.replyTo.Tell(1)
					return behaviors.Stopped
				}), "")
			n, err := actor.Ask(context.Background(), ref, ask)
			require.NoError(t, err)
			require.Equal(t, 1, n)
		}
	})
}

func TestAnAskSurvivesARestartOfItsTarget(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref := actor.Spawn(s, behaviors.Supervise(behaviors.Receive(
			func(ctx *actor.Context[question], q question) actor.Behavior[question] {
				time.AfterFunc(time.Second, func() { q.replyTo.Tell(1) })
				return ctx.Fail(errBoom)
			}), actor.Strategy{}), "")
		n, err := actor.Ask(context.Background(), ref, ask)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

func TestTheFirstReplyCountsAndTheSecondIsADeadLetter(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		ref := actor.Spawn(s, answering(func(_ *actor.Context[question], q question) {
			q.replyTo.Tell(1)
			q.replyTo.Tell(2)
		}), "talkative")
		n, err := actor.Ask(t.Context(), ref, ask)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		dead.Expect(actor.DeadLetter{
			Recipient: "reply to the ask of understudy://test/user/talkative", Message: 2, Reason: actor.ErrLateReply,
		})
	})
}

func TestAReplyThatComesAfterTheWaitIsADeadLetter(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		ref := actor.Spawn(s, answering(func(_ *actor.Context[question], q question) {
			time.Sleep(2 * time.Second)
			q.replyTo.Tell(1)
		}), "slow")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := actor.Ask(ctx, ref, ask)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrLateReply)
	})
}

func TestEveryReplyIsEitherReturnedOrADeadLetter(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		const asks = 500
		ref := actor.Spawn(s, answering(func(_ *actor.Context[question], q question) { q.replyTo.Tell(1) }), "busy")
		returned, unasked := 0, 0
		for range asks {
			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			switch _, err := actor.Ask(ctx, ref, ask); {
			case err == nil:
				returned++
			case strings.Contains(err.Error(), "nothing was asked"):
				unasked++ // its context had ended before
			}
		}
		settle()
		require.EqualValues(t, asks-returned-unasked, s.DeadLetters())
	})
}

func TestARequestBuilderThatPanicsTellsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[question](t, s)
		_, err := actor.Ask(t.Context(), p.Ref(), func(actor.ActorRef[int]) question { panic(errBoom) })
		var panicked *actor.PanicError
		require.ErrorAs(t, err, &panicked)
		require.ErrorIs(t, err, errBoom)
		require.ErrorContains(t, err, "ask "+p.Ref().Path()+": request: panic: boom")
		p.ExpectNone(time.Hour)
	})
}

func TestNobodyCanBeAsked(t *testing.T) {
	_, err := actor.Ask(t.Context(), actor.ActorRef[question]{}, ask)
	require.ErrorIs(t, err, actor.ErrNoRef)
}

func TestAskThroughAnAdapterEndsWithTheActorBehindIt(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		adapters := testkit.NewProbe[actor.ActorRef[question]](t, s)
		ref := actor.Spawn(s, obedient(), "")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			adapters.Ref().Tell(actor.Adapt(ctx, func(question) order { return stop }))
		}))
		adapter := adapters.Receive()
		_, err := actor.Ask(context.Background(), adapter, ask)
		require.ErrorIs(t, err, actor.ErrTerminated)
	})
}

func TestAnActorThatWasResolvedBeforeItWasSpawnedCanBeAsked(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		early := actor.Resolve[question](s, "understudy://test/user/late")
		actor.Spawn(s, answering(func(_ *actor.Context[question], q question) { q.replyTo.Tell(42) }), "late")
		require.Equal(t, 42, testkit.Ask(t.Context(), t, early, ask))
	})
}

func TestManyAsksAtOnceGetTheirOwnReplies(t *testing.T) {
	type sum struct {
		a, b    int
		replyTo actor.ActorRef[int]
	}
	inBubble(t, func(t *testing.T, s *actor.System) {
		adder := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[sum], q sum) actor.Behavior[sum] {
			q.replyTo.Tell(q.a + q.b)
			return behaviors.Same
		}), "adder")
		failures := make(chan error, 64)
		for a := range cap(failures) {
			go func() {
				for b := range 50 {
					n, err := actor.Ask(t.Context(), adder, func(r actor.ActorRef[int]) sum { return sum{a, b, r} })
					if err != nil || n != a+b {
						failures <- fmt.Errorf("%d + %d = %d: %w", a, b, n, err)
						return
					}
				}
				failures <- nil
			}()
		}
		for range cap(failures) {
			require.NoError(t, <-failures)
		}
	})
}

func TestSubscribersToTheEndOfAnAskAreNotLeftBehind(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, answering(func(_ *actor.Context[question], q question) {
			actor.Spawn(s, watching(p, q.replyTo), "")
			time.Sleep(time.Second)
			q.replyTo.Tell(1)
		}), "")
		testkit.Ask(t.Context(), t, ref, ask)
		p.Expect("watcher Terminated")
	})
}

func TestAnAskThatEndsSaysWhyTheActorIsSilentWhenThatIsKnown(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		refs := map[string]actor.ActorRef[question]{}
		for _, name := range []string{"known", "unknown"} {
			refs[name] = actor.Spawn(s, silent(), name)
		}
		extension.OnAskTimeout(s, func(path string) error {
			if path == "/user/known" {
				return errBoom
			}
			return nil
		})
		for name, ref := range refs {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			_, err := actor.Ask(ctx, ref, ask)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, name == "known", errors.Is(err, errBoom))
		}
	})
}
