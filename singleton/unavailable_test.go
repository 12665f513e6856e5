package singleton_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

func asked(t *testing.T, ref actor.ActorRef[msg]) error {
	t.Helper()
	_, err := actor.AskTimeout(t.Context(), ref, time.Second, func(replyTo actor.ActorRef[string]) msg { return msg{Text: "here", ReplyTo: replyTo} })
	return err
}

func TestAnAskThatEndsWithoutAnInstanceSaysSo(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		refs := onAll(c, parrot)
		settle()
		require.NoError(t, asked(t, refs["b"]))
		a, b := c.nodes["a"], c.nodes["b"]
		for _, step := range []struct {
			happens func()
			why     string
		}{
			{func() { c.crash("a"); c.reachable(a, false) }, "its host is unreachable; it moves when the host is down"},
			{func() { c.change(func() { a.peer.Up = false }) }, "waits for the permission of a"},
			{func() { c.downed(a) }, "a former host may still be stopping"},
			{func() { c.change(func() { b.peer.Up = false }) }, "this node is not up"},
		} {
			step.happens()
			settle()
			err := asked(t, refs["b"])
			require.ErrorIs(t, err, singleton.ErrUnavailable)
			require.ErrorIs(t, err, context.DeadlineExceeded, "as of any ask that has not been answered")
			require.ErrorContains(t, err, step.why)
		}
	})
}

func TestAnAskOfAnInstanceThatDoesNotAnswerIsNotCalledUnavailable(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		refs := onAll(c, func() actor.Behavior[msg] { return behaviors.Ignore })
		settle()
		for _, ref := range refs {
			err := asked(t, ref)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.NotErrorIs(t, err, singleton.ErrUnavailable)
		}
	})
}

func TestWhatHasNoRoomIsADeadLetterAsNoInstanceIsAvailable(t *testing.T) {
	inCluster(t, nil, func(t *testing.T, c *cluster) {
		a := c.join("a") // never up
		ref := onAll(c, parrot, singleton.Buffer(0))["a"]
		ref.Tell(msg{Text: "1", ReplyTo: testkit.NewProbe[string](t, a.System).Ref()})
		reason := a.deadLetters.Receive().Reason
		require.ErrorIs(t, reason, singleton.ErrBufferFull)
		require.ErrorIs(t, reason, singleton.ErrUnavailable)
	})
}
