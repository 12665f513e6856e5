package actor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// asking orders an ask of to that waits for d, after which p is told the outcome.
func asking(p *testkit.Probe[string], to actor.ActorRef[actor.ActorRef[int]], d time.Duration) order {
	return do(func(ctx *actor.Context[order]) {
		actor.AskToSelf(ctx, to, d, func(r actor.ActorRef[int]) actor.ActorRef[int] { return r },
			func(n int, err error) order { return say(p, fmt.Sprint(n, " ", err)) })
	})
}

// A later is an actor that is asked by the ref to reply to.
func later(f func(r actor.ActorRef[int]) actor.Behavior[actor.ActorRef[int]]) actor.Behavior[actor.ActorRef[int]] {
	return behaviors.Receive(func(_ *actor.Context[actor.ActorRef[int]], r actor.ActorRef[int]) actor.Behavior[actor.ActorRef[int]] {
		return f(r)
	})
}

func TestAnAskToSelfBringsTheReplyAndKeepsNobodyWaiting(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		replies := 0
		to := actor.Spawn(s, later(func(r actor.ActorRef[int]) actor.Behavior[actor.ActorRef[int]] {
			replies++
			r.TellAfter(time.Duration(replies)*time.Minute, replies)
			return behaviors.Same
		}), "slow")
		ref := actor.Spawn(s, obedient(), "it")
		ref.Tell(asking(p, to, time.Hour))
		ref.Tell(asking(p, to, 0))
		ref.Tell(say(p, "meanwhile"))
		p.Expect("meanwhile")
		p.ExpectNone(time.Minute - 1)
		p.Expect("1 <nil>")
		p.ExpectNone(time.Minute - 1)
		p.Expect("2 <nil>")
		p.ExpectNone(2 * time.Hour)
		require.Zero(t, s.DeadLetters())
	})
}

func TestAnAskToSelfEndsWithItsTimeOrTheAskedActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		var reply actor.ActorRef[int]
		silent := actor.Spawn(s, later(func(r actor.ActorRef[int]) actor.Behavior[actor.ActorRef[int]] {
			if r == reply {
				return behaviors.Stopped
			}
			reply = r
			return behaviors.Same
		}), "silent")
		ref := actor.Spawn(s, obedient(), "it")
		ref.Tell(asking(p, silent, time.Minute))
		p.ExpectNone(time.Minute - 1)
		p.Expect("0 ask understudy://test/user/silent: no reply after 1m0s, and the handler of its request has returned: context deadline exceeded")
		reply.Tell(1)
		lost := dead.Receive()
		require.ErrorIs(t, lost.Reason, actor.ErrLateReply)
		require.Equal(t, "reply to the ask of understudy://test/user/silent", lost.Recipient)

		ref.Tell(asking(p, silent, time.Minute))
		settle()
		silent.Tell(reply) // which stops it
		p.Expect("0 ask understudy://test/user/silent: actor: terminated before it replied")
		ref.Tell(asking(p, silent, time.Minute))
		p.Expect("0 ask understudy://test/user/silent: actor: terminated")
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrTerminated)
		ref.Tell(asking(p, actor.ActorRef[actor.ActorRef[int]]{}, time.Minute))
		p.Expect("0 ask: actor: the ActorRef addresses no actor")
		p.ExpectNone(time.Hour)
		dead.ExpectNone(time.Hour)
	})
}

func TestTheErrorsOfAnAskToSelfCanBeCompared(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[error](t, s)
		silent := actor.Spawn(s, behaviors.Ignore[actor.ActorRef[int]], "silent")
		actor.Spawn(s, obedient(), "it").Tell(do(func(ctx *actor.Context[order]) {
			actor.AskToSelf(ctx, silent, time.Minute, func(r actor.ActorRef[int]) actor.ActorRef[int] { return r },
				func(_ int, err error) order { return do(func(*actor.Context[order]) { p.Ref().Tell(err) }) })
		}))
		p.ExpectNone(time.Minute - 1)
		require.ErrorIs(t, p.Receive(), context.DeadlineExceeded)
	})
}

func TestAReplyToAnAskOfAnOldIncarnationOrAnEndedActorIsADeadLetter(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		to := actor.Spawn(s, later(func(r actor.ActorRef[int]) actor.Behavior[actor.ActorRef[int]] {
			r.TellAfter(time.Minute, 1)
			return behaviors.Same
		}), "slow")
		ref := actor.Spawn(s, behaviors.Supervise(obedient(), actor.Strategy{}), "it")
		ref.Tell(asking(p, to, 0))
		ref.Tell(asking(p, to, time.Second))
		synctest.Wait() // the requests are being handled
		ref.Tell(fail(errBoom))
		p.ExpectNone(time.Minute)
		reasons := map[error]int{}
		for range 2 {
			reasons[dead.Receive().Reason]++
		}
		require.Equal(t, map[error]int{actor.ErrStaleHandler: 2}, reasons)
		ref.Tell(asking(p, to, 0))
		synctest.Wait() // the request is being handled
		ref.Tell(stop)
		p.ExpectNone(time.Minute)
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrTerminated)
		dead.ExpectNone(time.Hour)
	})
}

func TestAnAskToSelfThatEndsWithItsIncarnationLeavesNothingBehind(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		silent := actor.Spawn(s, behaviors.Ignore[actor.ActorRef[int]], "silent")
		ref := actor.Spawn(s, behaviors.Supervise(obedient(), actor.Strategy{}), "it")
		for _, end := range []order{fail(errBoom), stop} {
			for range 100 {
				ref.Tell(asking(p, silent, 0))
				ref.Tell(asking(p, silent, time.Hour))
			}
			settle()
			require.Equal(t, 200, actor.Watchers(silent))
			ref.Tell(end)
			settle()
			require.Zero(t, actor.Watchers(silent))
		}
		p.ExpectNone(2 * time.Hour)
	})
}

func TestARequestOrAMappingOfAnAskToSelfThatPanicsIsSupervised(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		asked := 0
		to := actor.Spawn(s, later(func(r actor.ActorRef[int]) actor.Behavior[actor.ActorRef[int]] {
			asked++
			r.Tell(asked)
			return behaviors.Same
		}), "quick")
		ref := actor.Spawn(s, behaviors.Supervise(life(p), actor.Strategy{}), "it")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			actor.AskToSelf(ctx, to, 0, func(actor.ActorRef[int]) actor.ActorRef[int] { panic(errBoom) },
				func(int, error) order { return nil })
		}))
		p.Expect("start")
		p.Expect("it PreRestart")
		p.Expect("start")
		settle()
		require.Zero(t, asked)
		ref.Tell(do(func(ctx *actor.Context[order]) {
			actor.AskToSelf(ctx, to, 0, func(r actor.ActorRef[int]) actor.ActorRef[int] { return r },
				func(int, error) order { panic(errBoom) })
		}))
		p.Expect("it PreRestart")
		p.Expect("start")
	})
}

// refusal is an error of a type of the user's.
type refusal struct{ why string }

func (r *refusal) Error() string { return r.why }

func TestAResultIsAValueOrTheErrorOfTheReplier(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		type withdraw struct {
			amount  int
			replyTo actor.ActorRef[actor.Result[int]]
		}
		account := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[withdraw], w withdraw) actor.Behavior[withdraw] {
			if w.amount > 100 {
				w.replyTo.Tell(actor.Result[int]{Err: &refusal{"too much"}})
			} else {
				w.replyTo.Tell(actor.Result[int]{Value: 100 - w.amount})
			}
			return behaviors.Same
		}), "account")
		ask := func(amount int) (int, error) {
			return actor.AskResult(t.Context(), account, func(r actor.ActorRef[actor.Result[int]]) withdraw { return withdraw{amount, r} })
		}
		left, err := ask(30)
		require.NoError(t, err)
		require.Equal(t, 70, left)
		_, err = ask(200)
		var refused *refusal
		require.ErrorAs(t, err, &refused)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = actor.AskResult(ctx, account, func(r actor.ActorRef[actor.Result[int]]) withdraw { return withdraw{1, r} })
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestTheTextOfAnErrorCrossesTheWire(t *testing.T) {
	for _, result := range []actor.Result[string]{
		{Value: "value"},
		{Err: &refusal{"too much"}},
		{Value: "both", Err: errors.New("")},
	} {
		p, err := extension.Pack(result)
		require.NoError(t, err)
		got, err := extension.Unpack(nil, p)
		require.NoError(t, err)
		value, err := got.(actor.Result[string]).Value, got.(actor.Result[string]).Err
		require.Equal(t, result.Value, value)
		if result.Err == nil {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, result.Err.Error())
		}
	}
}
