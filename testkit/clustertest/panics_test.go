//go:build !quick

package clustertest_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A fault makes one method of what a user has written panic while it is broken.
type fault struct {
	method string
	broken atomic.Bool
}

func (f *fault) maybe(method string) {
	if f.method == method && f.broken.Load() {
		panic(method)
	}
}

type panickyStrategy struct {
	downing.Strategy
	*fault
}

func (s panickyStrategy) Decide(of downing.Situation) downing.Decision {
	s.maybe("Decide")
	return s.Strategy.Decide(of)
}

func (s panickyStrategy) Delay() time.Duration { s.maybe("Delay"); return s.Strategy.Delay() }
func (s panickyStrategy) Skew() time.Duration  { s.maybe("Skew"); return s.Strategy.Skew() }
func (s panickyStrategy) String() string       { s.maybe("String"); return s.Strategy.String() }

type panickyLease struct {
	lease.Lease
	*fault
}

func (l panickyLease) AcquireAbove(ctx context.Context, floor uint64) (bool, error) {
	l.maybe("AcquireAbove")
	return l.Lease.AcquireAbove(ctx, floor)
}

func (l panickyLease) Release(ctx context.Context) error {
	l.maybe("Release")
	return l.Lease.Release(ctx)
}

func (l panickyLease) String() string { l.maybe("String"); return "a lease" }

type panickyClock struct {
	cluster.Clock
	*fault
}

func (c panickyClock) Now() time.Time  { c.maybe("Now"); return c.Clock.Now() }
func (c panickyClock) Wall() time.Time { c.maybe("Wall"); return c.Clock.Wall() }

// A downing strategy that panics decides nothing. When it is well again, it decides.
func TestANodeOutlivesPanicsOfItsDowningStrategy(t *testing.T) {
	for _, method := range []string{"Decide", "Delay", "Skew", "String"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fault{method: method}
				c := clustertest.Start(t, 3, func(_ string, cfg *cluster.Config) {
					cfg.Downing = panickyStrategy{downing.KeepMajority{}, f}
				})
				f.broken.Store(true)
				c.Crash("n3")
				time.Sleep(30 * time.Second)
				f.broken.Store(false)
				time.Sleep(30 * time.Second)
				whole(t, c, 0, "n1", "n2")
			})
		})
	}
}

// A lease of downing that panics is not granted.
func TestANodeOutlivesPanicsOfItsDowningLease(t *testing.T) {
	for _, method := range []string{"AcquireAbove", "Release", "String"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, shared := &fault{method: method}, &sharedLease{cut: map[string]bool{}}
				c := clustertest.Start(t, 3, func(name string, cfg *cluster.Config) {
					cfg.Downing = downing.LeaseMajority{Lease: panickyLease{shared.at(name), f}}
				})
				f.broken.Store(true)
				c.Partition([]string{"n1"}, []string{"n2", "n3"})
				time.Sleep(2 * time.Minute)
				f.broken.Store(false)
				c.Heal()
				c.AwaitQuiet()
				whole(t, c, 0, "n1", "n2", "n3")
			})
		})
	}
}

// A node whose clock panics ends, and the process does not.
func TestANodeWhoseClockPanicsEnds(t *testing.T) {
	for _, method := range []string{"Now", "Wall"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fault{method: method}
				c := clustertest.Start(t, 3, func(name string, cfg *cluster.Config) {
					if name == "n3" {
						cfg.Clock = panickyClock{cfg.Clock, f}
					}
				})
				f.broken.Store(true)
				<-c.Node("n3").Terminated()
				time.Sleep(30 * time.Second)
				whole(t, c, 0, "n1", "n2")
			})
		})
	}
}
