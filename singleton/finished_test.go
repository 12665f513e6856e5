package singleton_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

// finished is a behavior that ends the singleton for good.
func finished[M any](ctx *actor.Context[M], next *actor.Next[M]) {
	singleton.Finish(ctx)
	next.Stop()
}

// An actor that an instance has spawned is not the singleton.
func TestAChildThatFinishesEndsItselfOnly(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, func() actor.Behavior[msg] {
			return behaviors.Setup(func(ctx *actor.Context[msg]) actor.Behavior[msg] {
				actor.Spawn(ctx, finished[string], "child")
				return behaviors.Ignore[msg]
			})
		}))
		settle()
		c.leave("a")
		requireOne(t, census, "b")
		require.Equal(t, singleton.Host, c.nodes["b"].status("one").Phase)
	})
}

// An instance may stop in any way after it has called Finish.
func TestAnInstanceThatStopsInItsOwnWayMayFinish(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		refs := onAll(c, testkit.Counted(census, func() actor.Behavior[msg] {
			return behaviors.Receive(func(ctx *actor.Context[msg], m msg) actor.Behavior[msg] {
				if m.Text == "finish" {
					singleton.Finish(ctx)
				}
				return behaviors.Stopped
			})
		}))
		settle()
		refs["b"].Tell(msg{Text: "stop"})
		time.Sleep(10 * time.Second)
		require.Equal(t, 2, census.Started(), "it has only stopped")
		refs["b"].Tell(msg{Text: "finish"})
		time.Sleep(10 * time.Second)
		require.Equal(t, 2, census.Started())
		require.Equal(t, singleton.Ended, c.nodes["a"].status("one").Phase)
		require.Equal(t, singleton.Ended, c.nodes["b"].status("one").Phase)
	})
}

// A singleton may finish when it gets its stop message. The next host learns of it with the grant,
// and starts nothing.
func TestAnInstanceMayFinishWhileItIsHandedOver(t *testing.T) {
	for _, leased := range []bool{false, true} {
		inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
			census := testkit.NewCensus(t)
			last := testkit.Counted(census, func() actor.Behavior[msg] {
				return behaviors.Receive(func(*actor.Context[msg], msg) actor.Behavior[msg] { return finished })
			})
			stop := singleton.StopMessage(msg{Text: "good bye"})
			if leased {
				leaseOnAll(c, last, stop)
			} else {
				onAll(c, last, stop)
			}
			settle()
			c.leave("a")
			time.Sleep(time.Hour)
			require.Equal(t, 1, census.Started())
			require.Equal(t, singleton.Ended, c.nodes["b"].status("one").Phase)
		})
	}
}
