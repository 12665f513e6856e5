package singleton_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

// protections are the ways in which messages to a singleton are kept.
var protections = map[string][]singleton.Option{
	"at most once":                 nil,
	"at least once":                {singleton.AtLeastOnce(50)},
	"at least once, beyond window": {singleton.AtLeastOnce(1)},
}

// inOutage runs a test in a cluster whose host, a, has crashed and is not downed. Messages sent on
// b, by ref, wait.
func inOutage(t *testing.T, opts []singleton.Option, test func(t *testing.T, c *cluster, a, b *node, ref actor.ActorRef[msg])) {
	t.Helper()
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		refs := onAll(c, parrot, opts...)
		settle()
		c.crash("a")
		c.reachable(c.nodes["a"], false)
		settle()
		test(t, c, c.nodes["a"], c.nodes["b"], refs["b"])
	})
}

// An ask ends while there is no instance. Its request is not handled when there is one again, an
// hour later; messages sent before and after it are.
func TestAnAskThatEndsWhileItsRequestIsHeldIsNeverHandled(t *testing.T) {
	for name, opts := range protections {
		t.Run(name, func(t *testing.T) {
			inOutage(t, opts, func(t *testing.T, c *cluster, a, b *node, ref actor.ActorRef[msg]) {
				handled := testkit.NewProbe[string](t, b.System)
				ref.Tell(msg{Text: "before", ReplyTo: handled.Ref()})
				err := asked(t, ref)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorIs(t, err, singleton.ErrUnavailable)
				require.ErrorIs(t, err, actor.ErrWithdrawn)
				ref.Tell(msg{Text: "after", ReplyTo: handled.Ref()})
				time.Sleep(time.Hour)
				c.downed(a)
				time.Sleep(time.Minute)
				require.Equal(t, "before", handled.Receive())
				require.Equal(t, "after", handled.Receive())
				letter := b.deadLetters.Receive()
				require.ErrorIs(t, letter.Reason, actor.ErrWithdrawn)
				require.Equal(t, "here", letter.Message.(msg).Text)
				require.NoError(t, asked(t, ref), "the way works")
			})
		})
	}
}

// Requests of asks that have ended take no room from messages that are still wanted.
func TestRequestsOfAsksThatHaveEndedMakeRoom(t *testing.T) {
	const room = 10
	for name, opts := range protections {
		t.Run(name, func(t *testing.T) {
			inOutage(t, append(slices.Clone(opts), singleton.Buffer(room)), func(t *testing.T, c *cluster, a, b *node, ref actor.ActorRef[msg]) {
				handled := testkit.NewProbe[string](t, b.System)
				ref.Tell(msg{Text: "first", ReplyTo: handled.Ref()})
				for range room - 1 {
					require.ErrorIs(t, asked(t, ref), actor.ErrWithdrawn)
				}
				for i := range room - 1 {
					ref.Tell(msg{Text: strconv.Itoa(i), ReplyTo: handled.Ref()})
				}
				c.downed(a)
				time.Sleep(time.Minute)
				require.Equal(t, "first", handled.Receive())
				for i := range room - 1 {
					require.Equal(t, strconv.Itoa(i), handled.Receive())
				}
				for range room - 1 {
					require.ErrorIs(t, b.deadLetters.Receive().Reason, actor.ErrWithdrawn)
				}
				b.deadLetters.ExpectNone(time.Minute)
			})
		})
	}
}

// An actor that stops or restarts while its request is held no longer wants it.
func TestARequestIsWithdrawnWhenTheActorThatAskedEnds(t *testing.T) {
	for name, opts := range protections {
		for _, end := range []string{"stop", "fail"} {
			for _, timeout := range []time.Duration{0, 5 * time.Second} {
				t.Run(name+", "+end+", "+timeout.String(), func(t *testing.T) {
					inOutage(t, opts, func(t *testing.T, c *cluster, a, b *node, ref actor.ActorRef[msg]) {
						asker := actor.Spawn(b.System, behaviors.Supervise(asksOnce(ref, timeout), actor.Strategy{}), "asker")
						asker.Tell("ask")
						asker.Tell(end)
						time.Sleep(time.Hour)
						c.downed(a)
						time.Sleep(time.Minute)
						letter := b.deadLetters.Receive()
						require.ErrorIs(t, letter.Reason, actor.ErrWithdrawn)
						require.Equal(t, "held", letter.Message.(msg).Text)
						b.deadLetters.ExpectNone(time.Minute)
					})
				})
			}
		}
	}
}

// asksOnce asks to when it is told so, and ends otherwise.
func asksOnce(to actor.ActorRef[msg], timeout time.Duration) actor.Behavior[string] {
	return behaviors.Receive(func(ctx *actor.Context[string], what string) actor.Behavior[string] {
		switch what {
		case "ask":
			actor.AskToSelf(ctx, to, timeout, func(replyTo actor.ActorRef[string]) msg { return msg{"held", replyTo} },
				func(string, error) string { return "" })
		case "stop":
			return behaviors.Stopped
		case "fail":
			return ctx.Fail(errors.New("failed"))
		}
		return behaviors.Same
	})
}

// An ask whose request an instance has got says what became of it.
func TestAnAskThatEndsAfterItsRequestWasDeliveredSaysSo(t *testing.T) {
	inCluster(t, []string{"a"}, func(t *testing.T, c *cluster) {
		ref := onAll(c, func() actor.Behavior[msg] { return behaviors.Ignore })["a"]
		settle()
		err := asked(t, ref)
		require.ErrorContains(t, err, "the handler of its request has returned")
		require.NotErrorIs(t, err, actor.ErrWithdrawn)
	})
}

// With Expire no message waits for longer, and the ask of one that does not ends at once.
func TestAHeldMessageExpires(t *testing.T) {
	for name, opts := range protections {
		t.Run(name, func(t *testing.T) {
			inOutage(t, append(opts, singleton.Expire(10*time.Second)), func(t *testing.T, c *cluster, a, b *node, ref actor.ActorRef[msg]) {
				begin := time.Now()
				ref.Tell(msg{Text: "first"})
				time.Sleep(3 * time.Second)
				_, err := actor.Ask(t.Context(), ref, func(replyTo actor.ActorRef[string]) msg { return msg{Text: "second", ReplyTo: replyTo} })
				require.ErrorIs(t, err, singleton.ErrHeldTooLong)
				require.ErrorIs(t, err, singleton.ErrUnavailable)
				require.Equal(t, 13*time.Second, time.Since(begin))
				for _, text := range []string{"first", "second"} {
					letter := b.deadLetters.Receive()
					require.ErrorIs(t, letter.Reason, singleton.ErrHeldTooLong)
					require.Equal(t, text, letter.Message.(msg).Text)
				}
				c.downed(a)
				settle()
				time.Sleep(time.Minute)
				require.NoError(t, asked(t, ref))
			})
		})
	}
}

// If the instance is on another node, its asker cannot know that.
func TestAnAskOfAnInstanceElsewhereSaysThatItMayStillBeHandled(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		ref := onAll(c, func() actor.Behavior[msg] { return behaviors.Ignore })["b"]
		settle()
		err := asked(t, ref)
		require.ErrorContains(t, err, "the request may still be handled")
		require.NotErrorIs(t, err, actor.ErrWithdrawn)
	})
}
