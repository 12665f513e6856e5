package singleton_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

// Situations of the table in docs/singleton.md that no other test plays.

// The host dies while the instance has the question: no answer comes, and the asker's context
// decides how long that takes.
func TestAnAskInFlightWhenTheHostDiesEndsWithItsContext(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		refs := onAll(c, func() actor.Behavior[msg] {
			return behaviors.Receive(func(*actor.Context[msg], msg) actor.Behavior[msg] {
				time.Sleep(10 * time.Second)
				return behaviors.Same
			})
		})
		settle()
		begin := time.Now()
		var took time.Duration
		asked := make(chan error, 1)
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, err := actor.Ask(ctx, refs["c"], func(to actor.ActorRef[string]) msg { return msg{"hello", to} })
			took = time.Since(begin)
			asked <- err
		}()
		settle()
		c.crash("a")
		c.removed(c.nodes["a"])
		require.ErrorIs(t, <-asked, context.DeadlineExceeded)
		require.Equal(t, 5*time.Second, took)
	})
}

// Messages that an instance has put aside, and its timers, end with it, in a graceful move too. A
// ref from a message stays valid wherever it was kept.
func TestTimersAndWhatWasPutAsideEndWithTheInstance(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		var shelf actor.ActorRef[string] // as if it had been stored
		fired := 0
		refs := onAll(c, func() actor.Behavior[msg] {
			var aside []msg
			return behaviors.Receive(func(ctx *actor.Context[msg], m msg) actor.Behavior[msg] {
				switch m.Text {
				case "later":
					aside, shelf = append(aside, m), m.ReplyTo
					ctx.After("alarm", time.Minute, msg{Text: "alarm"})
				case "alarm":
					fired++
				case "how many":
					m.ReplyTo.Tell(string(rune('0' + len(aside))))
				}
				return behaviors.Same
			})
		})
		p := testkit.NewProbe[string](t, c.nodes["c"].System)
		refs["c"].Tell(msg{"later", p.Ref()})
		settle()
		c.leave("a")
		refs["c"].Tell(msg{"how many", p.Ref()})
		p.Expect("0")
		time.Sleep(time.Hour)
		require.Zero(t, fired)
		shelf.Tell("answered after all")
		p.Expect("answered after all")
		c.nodes["c"].deadLetters.ExpectNone(0)
	})
}

// With AtLeastOnce the graceful move is no different; what was put aside counts as handled.
func TestWithAtLeastOnceWhatWasPutAsideCountsAsHandled(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		handled := 0
		refs := onAll(c, func() actor.Behavior[msg] {
			return behaviors.Receive(func(*actor.Context[msg], msg) actor.Behavior[msg] {
				handled++ // and kept for later
				return behaviors.Same
			})
		}, singleton.AtLeastOnce(10))
		refs["c"].Tell(msg{Text: "later"})
		settle()
		c.leave("a")
		time.Sleep(time.Hour)
		require.Equal(t, 1, handled)
		require.Zero(t, c.nodes["c"].status("one").Unacknowledged)
	})
}

// The message at which an instance fails is not repeated; the messages behind it become dead
// letters.
func TestWhatWaitsInAnInstanceThatFailsIsADeadLetter(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		refs := onAll(c, func() actor.Behavior[msg] {
			return behaviors.Receive(func(ctx *actor.Context[msg], m msg) actor.Behavior[msg] {
				if m.Text == "fail" {
					time.Sleep(time.Second) // the next one comes meanwhile
					panic("told to")
				}
				m.ReplyTo.Tell(singleton.GenerationOf(ctx).String() + " " + m.Text)
				return behaviors.Same
			})
		})
		settle()
		p := testkit.NewProbe[string](t, c.nodes["b"].System)
		refs["b"].Tell(msg{Text: "fail"})
		refs["b"].Tell(msg{"behind", p.Ref()})
		letter := c.nodes["a"].deadLetters.Receive()
		require.Equal(t, "behind", letter.Message.(msg).Text)
		require.ErrorIs(t, letter.Reason, actor.ErrTerminated)
		settle()
		refs["b"].Tell(msg{"later", p.Ref()})
		p.Expect("1.2 later")
		c.nodes["a"].deadLetters.ExpectNone(time.Hour)
	})
}

func TestWithAtLeastOnceALostLeaseLosesNothing(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		var handled []string
		l := leaseOnAll(c, func() actor.Behavior[msg] {
			return behaviors.Receive(func(_ *actor.Context[msg], m msg) actor.Behavior[msg] {
				time.Sleep(ttl / 4)
				handled = append(handled, m.Text)
				return behaviors.Same
			})
		}, singleton.AtLeastOnce(10))
		texts := []string{"one", "two", "three", "four", "five", "six"}
		for _, text := range texts {
			l.refs["b"].Tell(msg{Text: text})
		}
		settle()
		l.store.Usurp("one", "stranger", 2*time.Second)
		time.Sleep(5 * ttl)
		synctest.Wait()
		require.Equal(t, texts, handled)
		require.Zero(t, c.nodes["b"].status("one").Unacknowledged)
		c.nodes["a"].deadLetters.ExpectNone(0)
		c.nodes["b"].deadLetters.ExpectNone(0)
	})
}

// The news that the singleton has finished may arrive before the news that a message was handled.
// That message then becomes a dead letter, too.
func TestWithAtLeastOnceWhatIsLeftWhenItHasFinishedIsADeadLetter(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		refs := onAll(c, func() actor.Behavior[msg] {
			return behaviors.Receive(func(*actor.Context[msg], msg) actor.Behavior[msg] { return finished })
		}, singleton.AtLeastOnce(10))
		settle()
		refs["b"].Tell(msg{Text: "the last"})
		refs["b"].Tell(msg{Text: "too late"})
		for text := ""; text != "too late"; {
			letter := c.nodes["b"].deadLetters.Receive()
			require.ErrorIs(t, letter.Reason, singleton.ErrFinished)
			text = letter.Message.(msg).Text
		}
		settle()
		require.Zero(t, c.nodes["b"].status("one").Unacknowledged)
		c.nodes["b"].deadLetters.ExpectNone(time.Hour)
	})
}

func TestWhatIsLeftAfterTheStopTimeoutIsADeadLetter(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		handled := 0
		refs := onAll(c, func() actor.Behavior[msg] {
			return behaviors.Receive(func(*actor.Context[msg], msg) actor.Behavior[msg] {
				time.Sleep(3 * time.Second)
				handled++
				return behaviors.Same
			})
		}, singleton.StopTimeout(2*time.Second))
		settle()
		for _, text := range []string{"at it", "waits", "waits"} {
			refs["b"].Tell(msg{Text: text})
		}
		settle()
		c.startLeaving("a")
		for range 2 {
			letter := c.nodes["a"].deadLetters.Receive()
			require.Equal(t, "waits", letter.Message.(msg).Text)
			require.ErrorIs(t, letter.Reason, actor.ErrTerminated)
		}
		c.finishLeaving("a")
		require.Equal(t, 1, handled)
	})
}
