package actor_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
)

// An ask ends by the failure of its handler if its actor forgets the request: it is restarted or
// ends. One that goes on may still reply.
func TestAnAskEndsWhenItsHandlerFails(t *testing.T) {
	broken := errors.New("broken")
	fails := map[string]func(ctx *actor.Context[actor.ActorRef[int]]) actor.Behavior[actor.ActorRef[int]]{
		"panic": func(*actor.Context[actor.ActorRef[int]]) actor.Behavior[actor.ActorRef[int]] { panic(broken) },
		"return": func(ctx *actor.Context[actor.ActorRef[int]]) actor.Behavior[actor.ActorRef[int]] {
			return ctx.Fail(broken)
		},
	}
	for how, fail := range fails {
		for name, strategy := range map[string]actor.Strategy{
			"restart": {}, "restart later": {Backoff: actor.Backoff{Min: time.Minute}},
			"resume": {Decide: func(error) actor.Directive { return actor.Resume }},
			"stop":   {Decide: func(error) actor.Directive { return actor.Stop }},
		} {
			t.Run(how+"/"+name, func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *actor.System) {
					to := actor.Spawn(s, behaviors.Supervise(behaviors.Receive(func(ctx *actor.Context[actor.ActorRef[int]], replyTo actor.ActorRef[int]) actor.Behavior[actor.ActorRef[int]] {
						time.AfterFunc(time.Second, func() { replyTo.Tell(7) })
						return fail(ctx)
					}), strategy), "it")
					begun := time.Now()
					reply, err := actor.AskTimeout(t.Context(), to, time.Minute, func(r actor.ActorRef[int]) actor.ActorRef[int] { return r })
					switch name {
					case "resume":
						require.NoError(t, err)
						require.Equal(t, 7, reply)
					case "stop":
						require.ErrorIs(t, err, actor.ErrTerminated)
					default:
						require.ErrorIs(t, err, actor.ErrHandlerFailed)
						require.ErrorIs(t, err, broken)
					}
					require.LessOrEqual(t, time.Since(begun), time.Second)
					time.Sleep(time.Hour)
				})
			})
		}
	}
}

// The failure at a message of AtLeastOnce, whose sender decides what follows, is not taken for one
// at the next request.
func TestTheFailureAtADeliveredRequestIsForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		type request = actor.ActorRef[int]
		failing := func(fail func(ctx *actor.Context[request]) actor.Behavior[request]) actor.Behavior[request] {
			return behaviors.Receive(func(ctx *actor.Context[request], _ request) actor.Behavior[request] { return fail(ctx) })
		}
		first, second := errors.New("first"), errors.New("second")
		one := actor.Spawn(s, behaviors.Singleton(func() actor.Behavior[request] {
			return failing(func(ctx *actor.Context[request]) actor.Behavior[request] { return ctx.Fail(first) })
		}, singleton.AtLeastOnce(1), singleton.Attempts(1)), "one")
		other := actor.Spawn(s, behaviors.Supervise(failing(func(*actor.Context[request]) actor.Behavior[request] { panic(second) }), actor.Strategy{}), "other")
		itself := func(r request) request { return r }
		for range 20 {
			_, err := actor.AskTimeout(t.Context(), one, time.Minute, itself)
			require.ErrorIs(t, err, singleton.ErrGivenUp)
			_, err = actor.AskTimeout(t.Context(), other, time.Minute, itself)
			require.ErrorIs(t, err, actor.ErrHandlerFailed)
			require.ErrorIs(t, err, second)
			time.Sleep(time.Minute)
		}
	})
}
