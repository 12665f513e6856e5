package actor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/testkit"
)

func TestAnAskWithoutADeadlineThatWaitsIsLoggedOnceWithThePath(t *testing.T) {
	for name, begin := range map[string]func(s *actor.System, to actor.ActorRef[question]){
		"from outside": func(_ *actor.System, to actor.ActorRef[question]) {
			go func() { _, _ = actor.Ask(context.Background(), to, ask) }()
		},
		"from inside": func(s *actor.System, to actor.ActorRef[question]) {
			actor.Spawn(s, obedient(), "").Tell(do(func(ctx *actor.Context[order]) {
				actor.AskToSelf(ctx, to, 0, ask, func(int, error) order { return stop })
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, logs := observer.New(zapcore.WarnLevel)
				s := testkit.NewSystem(t, testkit.WithoutEncoding(), actor.WithLogger(zap.New(core)))
				to := actor.Spawn(s, silent(), "silent")
				begin(s, to)
				time.Sleep(29 * time.Second)
				require.Empty(t, logs.All())
				time.Sleep(24 * time.Hour)
				require.Len(t, logs.All(), 1)
				require.Equal(t, to.Path(), logs.All()[0].ContextMap()["asked"])
				require.NoError(t, s.Shutdown(t.Context()))
			})
		})
	}
}

func TestAnAskWithADeadlineOrWithAReplyIsNotLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zapcore.WarnLevel)
		s := testkit.NewSystem(t, testkit.WithoutEncoding(), actor.WithLogger(zap.New(core)))
		to := actor.Spawn(s, silent(), "silent")
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := actor.Ask(ctx, to, ask)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		slow := actor.Spawn(s, answering(func(_ *actor.Context[question], q question) {
			time.AfterFunc(20*time.Second, func() { q.replyTo.Tell(1) })
		}), "slow")
		for range 3 {
			_, err = actor.Ask(context.Background(), slow, ask)
			require.NoError(t, err)
		}
		require.Empty(t, logs.All())
	})
}

func TestManyAsksThatWaitAreNoFloodOfLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zapcore.WarnLevel)
		s := testkit.NewSystem(t, testkit.WithoutEncoding(), actor.WithLogger(zap.New(core)))
		to := actor.Spawn(s, silent(), "silent")
		for range 1000 {
			go func() { _, _ = actor.Ask(context.Background(), to, ask) }()
		}
		time.Sleep(time.Minute)
		require.Less(t, len(logs.All()), 20)
		require.NoError(t, s.Shutdown(t.Context()))
	})
}
