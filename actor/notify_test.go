package actor_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/testkit"
)

// notified is an actor that counts notifications, and hands out how to make them.
func notified(give chan<- func(), handled *int, slow time.Duration) actor.Behavior[string] {
	return func(ctx *actor.Context[string], next *actor.Next[string]) {
		give <- ctx.Notify(func() actor.Behavior[string] {
			*handled++
			time.Sleep(slow)
			return nil
		})
		next.OnMessage = func(_ *actor.Context[string], msg string) actor.Behavior[string] {
			if msg == "fail" {
				panic(errBoom)
			}
			time.Sleep(slow)
			return nil
		}
	}
}

func TestNotificationsThatWaitAreOne(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		give, handled := make(chan func(), 1), 0
		ref := actor.Spawn(s, notified(give, &handled, time.Second), "a", actor.Bounded(1))
		notify := <-give
		for range 3 {
			ref.Tell("fill the mailbox")
			synctest.Wait()
		}
		for range 100 {
			notify()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 1, handled, "no mailbox is too full")
		notify()
		synctest.Wait()
		notify()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 3, handled, "one that comes while another is handled is not lost")
	})
}

func TestANotificationOfAnActorThatHasEndedOrRestartedIsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := testkit.NewProbe[actor.DeadLetter](t, s)
		actor.Subscribe(s, dead.Ref())
		give, handled := make(chan func(), 2), 0
		ref := actor.Spawn(s, func(_ *actor.Context[string], next *actor.Next[string]) {
			next.Supervise(notified(give, &handled, 0), actor.Strategy{})
		}, "a")
		older := <-give
		ref.Tell("fail")
		newer := <-give
		older()
		synctest.Wait()
		require.Zero(t, handled)
		newer()
		synctest.Wait()
		require.Equal(t, 1, handled)
		require.NoError(t, s.Shutdown(t.Context()))
		newer()
		synctest.Wait()
		require.Equal(t, 1, handled)
		require.Zero(t, s.DeadLetters())
	})
}
