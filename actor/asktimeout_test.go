package actor_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// answeringAfter answers every question after d.
func answeringAfter(d time.Duration) actor.Behavior[question] {
	return answering(func(_ *actor.Context[question], q question) { q.replyTo.TellAfter(d, 42) })
}

func TestAnAskWithATimeoutReturnsTheReplyThatComesInTime(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		for _, delay := range []time.Duration{0, time.Second, time.Minute - 1} {
			start := time.Now()
			n, err := actor.AskTimeout(context.Background(), actor.Spawn(s, answeringAfter(delay), ""), time.Minute, ask)
			require.NoError(t, err)
			require.Equal(t, 42, n)
			require.Equal(t, delay, time.Since(start))
		}
	})
}

func TestATimeoutMayBeTheLongestThereIs(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		n, err := actor.AskTimeout(t.Context(), actor.Spawn(s, answeringAfter(time.Hour), ""), math.MaxInt64, ask)
		require.NoError(t, err)
		require.Equal(t, 42, n)
	})
}

func TestATimeoutEndsAnAskAsADeadlineOfItsContextDoes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref := actor.Spawn(s, silent(), "silent")
		extension.OnAskTimeout(s, func(string) error { return errBoom })
		start := time.Now()
		_, err := actor.AskTimeout(context.Background(), ref, 50*time.Millisecond, ask)
		require.Equal(t, 50*time.Millisecond, time.Since(start))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, errBoom)
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		_, same := actor.Ask(ctx, ref, ask)
		require.EqualError(t, err, same.Error())
	})
}

func TestTheContextEndsAnAskBeforeItsTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref := actor.Spawn(s, silent(), "silent")
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		_, err := actor.AskTimeout(ctx, ref, time.Minute, ask)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "no reply after 1s")
		_, err = actor.AskTimeout(ctx, ref, time.Minute, ask)
		require.ErrorContains(t, err, "nothing was asked")
	})
}

func TestATimeoutThatIsNotPositiveIsOver(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[question](t, s)
		for _, timeout := range []time.Duration{0, -1} {
			_, err := actor.AskTimeout(context.Background(), p.Ref(), timeout, ask)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, err, "nothing was asked")
		}
		p.ExpectNone(time.Hour)
	})
}

func TestAReplyAfterTheTimeoutIsADeadLetter(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		_, err := actor.AskTimeout(context.Background(), actor.Spawn(s, answeringAfter(2*time.Second), ""), time.Second, ask)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrLateReply)
	})
}

func TestAnAskWithATimeoutEndsWithTheAskedActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref := actor.Spawn(s, behaviors.Stopped[question], "gone")
		_, err := actor.AskTimeout(context.Background(), ref, time.Minute, ask)
		require.ErrorIs(t, err, actor.ErrTerminated)
		_, err = actor.AskTimeout(context.Background(), actor.ActorRef[question]{}, time.Minute, ask)
		require.ErrorIs(t, err, actor.ErrNoRef)
	})
}

func TestTheWaitForAPlaceInAMailboxCountsInTheTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		full, release := stuck(s, actor.Bounded(1).Block(time.Hour))
		defer release()
		full.Tell(question{})
		for name, ref := range map[string]actor.ActorRef[question]{
			"own ref":  full,
			"resolved": actor.Resolve[question](s, full.Path()),
		} {
			start := time.Now()
			_, err := actor.AskTimeout(context.Background(), ref, time.Second, ask)
			require.ErrorIs(t, err, context.DeadlineExceeded, name)
			require.ErrorIs(t, err, actor.ErrMailboxFull, name)
			require.Equal(t, time.Second, time.Since(start), name)
		}
	})
}

func TestAnAskWithATimeoutReachesEveryKindOfRef(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		adapters := make(chan actor.ActorRef[question], 1)
		asked := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[question]) actor.Behavior[question] {
			adapters <- actor.Adapt(ctx, func(q question) question { return q })
			return answeringAfter(time.Second)
		}), "asked")
		early := actor.Resolve[question](s, "understudy://test/user/late")
		actor.Spawn(s, answeringAfter(time.Second), "late")
		for _, ref := range []actor.ActorRef[question]{asked, <-adapters, early} {
			n, err := actor.AskTimeout(context.Background(), ref, time.Minute, ask)
			require.NoError(t, err)
			require.Equal(t, 42, n)
			_, err = actor.AskTimeout(context.Background(), ref, time.Millisecond, ask)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
	})
}

func TestAnAskOfAnotherNodeEndsWithItsTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *actor.System) {
		a, b := connected(t)
		ref := actor.Resolve[remoteQuestion](a, actor.Spawn(b, behaviors.Receive(
			func(_ *actor.Context[remoteQuestion], q remoteQuestion) actor.Behavior[remoteQuestion] {
				q.ReplyTo.TellAfter(time.Second, q.N+1)
				return behaviors.Same
			}), "adder").String())
		request := func(replyTo actor.ActorRef[int]) remoteQuestion { return remoteQuestion{N: 1, ReplyTo: replyTo} }
		n, err := actor.AskTimeout(context.Background(), ref, time.Minute, request)
		require.NoError(t, err)
		require.Equal(t, 2, n)
		_, err = actor.AskTimeout(context.Background(), ref, time.Millisecond, request)
		require.EqualError(t, err, fmt.Sprintf("ask %s: no reply after 1ms, and the request may still be handled: context deadline exceeded", ref.Path()))
	})
}

type remoteQuestion struct {
	N       int
	ReplyTo actor.ActorRef[int]
}

func init() { actor.RegisterType[remoteQuestion]("actor_test.remoteQuestion") }

func TestAskResultTimeoutReturnsTheValueOrAnyError(t *testing.T) {
	type divide struct {
		by      int
		replyTo actor.ActorRef[actor.Result[int]]
	}
	inBubble(t, func(t *testing.T, s *actor.System) {
		divider := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[divide], d divide) actor.Behavior[divide] {
			switch {
			case d.by > 0:
				d.replyTo.Tell(actor.Result[int]{Value: 84 / d.by})
			case d.by == 0:
				d.replyTo.Tell(actor.Result[int]{Err: errBoom})
			}
			return behaviors.Same
		}), "divider")
		asked := func(by int) (int, error) {
			return actor.AskResultTimeout(context.Background(), divider, time.Second, func(r actor.ActorRef[actor.Result[int]]) divide {
				return divide{by, r}
			})
		}
		n, err := asked(2)
		require.NoError(t, err)
		require.Equal(t, 42, n)
		_, err = asked(0)
		require.ErrorIs(t, err, errBoom)
		_, err = asked(-1)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// The wait for a place in the mailbox belongs to it.
func TestTheErrorOfAnAskCountsTheTimeFromItsBeginning(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		for name, askFor50ms := range map[string]func(actor.ActorRef[question]) error{
			"Ask": func(to actor.ActorRef[question]) error {
				ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
				defer cancel()
				_, err := actor.Ask(ctx, to, ask)
				return err
			},
			"AskTimeout": func(to actor.ActorRef[question]) error {
				_, err := actor.AskTimeout(context.Background(), to, 50*time.Millisecond, ask)
				return err
			},
		} {
			room := make(chan struct{})
			to := actor.Spawn(s, answering(func(*actor.Context[question], question) { <-room }), "", actor.Bounded(1).Block(time.Hour))
			to.Tell(question{})
			settle()
			to.Tell(question{})
			time.AfterFunc(30*time.Millisecond, func() { close(room) })
			begun := time.Now()
			err := askFor50ms(to)
			require.Equal(t, 50*time.Millisecond, time.Since(begun), name)
			require.ErrorIs(t, err, context.DeadlineExceeded, name)
			require.ErrorContains(t, err, "no reply after 50ms,", name)
		}
	})
}

// The timer of the ask and the one by which its request is dropped fire at the same instant.
func TestAnAskWhoseRequestIsDroppedAsItEndsWrapsDeadlineExceeded(t *testing.T) {
	const timeout = 50 * time.Millisecond
	inBubble(t, func(t *testing.T, s *actor.System) {
		drops := behaviors.Receive(func(ctx *actor.Context[question], q question) actor.Behavior[question] {
			kept := extension.Describe[question](ctx, q).Hold()
			time.AfterFunc(timeout, func() { extension.DeadLetter(s, "the store room", kept.Message, actor.ErrWithdrawn) })
			return behaviors.Same
		})
		for range 50 {
			begun := time.Now()
			_, err := actor.AskTimeout(context.Background(), actor.Spawn(s, drops, ""), timeout, ask)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, actor.ErrWithdrawn)
			require.Equal(t, timeout, time.Since(begun))

			ends := make(chan error, 1)
			actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
				actor.AskToSelf(ctx, actor.Spawn(s, drops, ""), timeout, ask,
					func(_ int, err error) int { ends <- err; return 0 })
				return behaviors.Ignore
			}), "")
			require.ErrorIs(t, <-ends, context.DeadlineExceeded)
		}
	})
}
