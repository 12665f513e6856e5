//go:build !quick

package clustertest_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A diary counts what its actor does when.
type diary struct{ messages, ticks, stops, tasks atomic.Int64 }

func (d *diary) keep(ctx *actor.Context[int], next *actor.Next[int]) {
	ctx.Every("tick", time.Second, 0) // a tick is 0
	next.OnMessage = func(_ *actor.Context[int], n int) actor.Behavior[int] {
		if n == 0 {
			d.ticks.Add(1)
		} else {
			d.messages.Add(1)
		}
		return nil
	}
	next.OnSignal = func(_ *actor.Context[int], sig actor.Signal) actor.Behavior[int] {
		if _, stopped := sig.(actor.PostStop); stopped {
			d.stops.Add(1)
		}
		return nil
	}
}

func TestACrashIsTheEndOfAProcess(t *testing.T) {
	for name, end := range map[string]func(c *clustertest.Cluster, node string){
		"Kill": (*clustertest.Cluster).Kill, "Crash": (*clustertest.Cluster).Crash,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, d := clustertest.Start(t, 3), &diary{}
				n := c.Node("n2")
				ref := actor.Spawn(n, d.keep, "diary")
				for p := range actor.AfterActors + 1 {
					n.OnShutdown(p, "flush", func(context.Context) error { d.tasks.Add(1); return nil })
				}
				time.Sleep(2500 * time.Millisecond)
				require.EqualValues(t, 2, d.ticks.Load())
				begin := time.Now()
				end(c, "n2")
				require.Zero(t, time.Since(begin), "no time passes")
				ref.Tell(1)
				time.Sleep(time.Minute)
				require.EqualValues(t, 2, d.ticks.Load())
				require.Zero(t, d.messages.Load())
				require.Zero(t, d.stops.Load(), "nothing is flushed")
				require.Zero(t, d.tasks.Load())
				c.Add("n2")
				c.AwaitQuiet()
				t.Cleanup(func() { require.Zero(t, d.stops.Load()+d.tasks.Load()) })
			})
		})
	}
}

func TestTheLeaseOfANodeThatCrashesExpires(t *testing.T) {
	const ttl = 30 * time.Second
	synctest.Test(t, func(t *testing.T) {
		c, store, census := clustertest.Start(t, 3), lease.NewMemory(), testkit.NewCensus(t)
		for _, n := range c.Nodes() {
			l, err := lease.New(store, "ticker", n.View().Self.Name, lease.Settings{TTL: ttl})
			require.NoError(t, err)
			actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, ticker), singleton.WithLease(l)), "ticker")
		}
		c.AwaitQuiet()
		time.Sleep(time.Minute)
		require.Equal(t, 1, census.Running())
		began := time.Now()
		c.Kill("n1")
		require.Zero(t, census.Running(), "it went with its process")
		time.Sleep(2 * ttl)
		require.Equal(t, 1, census.Running())
		require.Equal(t, 1, census.Peak())
		events := census.Timeline()
		last := events[len(events)-1]
		require.True(t, last.Started)
		require.Greater(t, last.Time.Sub(began), ttl/2, "not before the lease has expired")
		require.Equal(t, began, events[len(events)-2].Time)
	})
}
