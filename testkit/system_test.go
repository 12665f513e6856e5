package testkit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/testkit"
)

func TestASystemEndsWithItsTest(t *testing.T) {
	var s *actor.System
	t.Run("a test", func(t *testing.T) { s = testkit.NewSystem(t) })
	<-s.Terminated()
}

func TestASystemThatDoesNotStopFailsItsTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		start := time.Now()
		complaint := failing(t, func(t testing.TB) {
			actor.Spawn(testkit.NewSystem(t, actor.WithLogger(zap.NewNop())), func(_ *actor.Context[int], next *actor.Next[int]) {
				<-release
				next.Stop()
			}, "stuck")
			synctest.Wait()
		})
		require.Contains(t, complaint, "testkit: actor: shutdown of system test: phase actors-stop: still running: /user/stuck: ")
		require.Equal(t, 10*time.Second, time.Since(start))
		close(release)
	})
}

func TestASystemTakesTheOptionsOfTheTest(t *testing.T) {
	logs, entries := observer.New(zap.WarnLevel)
	s := testkit.NewSystem(t, actor.WithLogger(zap.New(logs)))
	actor.ActorRef[int]{}.Tell(1)
	require.EqualValues(t, 1, s.DeadLetters())
	require.Equal(t, 1, entries.Len())
}

func TestAskReturnsTheReply(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[actor.ActorRef[int]](t, s)
		go func() { p.Receive().Tell(42) }()
		require.Equal(t, 42, testkit.Ask(t.Context(), t, p.Ref(), func(r actor.ActorRef[int]) actor.ActorRef[int] { return r }))
	})
}

func TestAskFailsTheTestWithoutAReply(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[actor.ActorRef[int]](t, s)
		complaint := failing(t, func(t testing.TB) {
			testkit.Ask(t.Context(), t, p.Ref(), func(r actor.ActorRef[int]) actor.ActorRef[int] { return r })
		})
		require.Equal(t, "testkit: ask "+p.Ref().Path()+": no reply after 1m0s, and the handler of its request has returned: context deadline exceeded", complaint)
	})
}
