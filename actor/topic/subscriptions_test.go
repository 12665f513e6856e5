package topic

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/testkit"
)

func TestAnInboxOutlivesItsTopicWhenTheNameHasAnotherType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		var lost []actor.DeadLetter
		actor.Subscribe(s, actor.Spawn(s, func(_ *actor.Context[actor.DeadLetter], next *actor.Next[actor.DeadLetter]) {
			next.OnMessage = func(_ *actor.Context[actor.DeadLetter], d actor.DeadLetter) actor.Behavior[actor.DeadLetter] {
				lost = append(lost, d)
				return nil
			}
		}, "lost"))
		o := of(s)
		before := &subscriptions[int]{topics: o, topic: New[int]("news")}
		inbox := actor.Spawn(s, before.receive(), "inbox")
		New[string]("news").Subscribe(s, actor.Spawn(s, func(_ *actor.Context[string], next *actor.Next[string]) {
			next.OnMessage = func(*actor.Context[string], string) actor.Behavior[string] { return nil }
		}, "reader"))
		inbox.Tell(1)
		synctest.Wait()
		require.Len(t, lost, 1)
		require.ErrorIs(t, lost[0].Reason, ErrNoSubscribers)
		require.Equal(t, "topic news", lost[0].Recipient)
	})
}
