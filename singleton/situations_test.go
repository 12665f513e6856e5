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

// Situations of the table in docs/singleton.md that no other test plays.

// The instance has the question when it dies with its node: nobody answers, and the asker's
// context decides how long that takes.
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

// What an instance has put aside, and its timers, end with it, in a graceful move too; a ref
// that was in a message is good wherever it has been kept.
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
