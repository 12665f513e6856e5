//go:build !quick

package clustertest_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A freezer is the clock of nodes that can be frozen. It shows the correct time, and ticks only
// while nothing is frozen.
type freezer struct {
	mu     sync.Mutex // guards frozen
	frozen bool
}

func (f *freezer) freeze(frozen bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen = frozen
}

func (f *freezer) isFrozen() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.frozen
}

func (*freezer) Now() time.Time  { return time.Now() }
func (*freezer) Wall() time.Time { return time.Now() }

func (f *freezer) NewTicker(d time.Duration) (<-chan time.Time, func()) {
	ticks, quit := make(chan time.Time, 1), make(chan struct{})
	ticker := time.NewTicker(d)
	go func() {
		defer ticker.Stop()
		for {
			select {
			case at := <-ticker.C:
				if !f.isFrozen() {
					select {
					case ticks <- at:
					default:
					}
				}
			case <-quit:
				return
			}
		}
	}()
	return ticks, sync.OnceFunc(func() { close(quit) })
}

// A hypervisor stops all nodes for ten seconds. No node becomes unreachable, and the
// singleton stays where it is.
func TestAStopOfAllNodesConvictsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &freezer{}
		c := clustertest.Start(t, 5, func(_ string, cfg *cluster.Config) { cfg.Clock = f })
		census := testkit.NewCensus(t)
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, ticker)), "ticker")
		}
		c.AwaitQuiet()
		for range 10 {
			untouched(t, c, func() {
				f.freeze(true)
				for _, name := range named(5) {
					c.Pause(name)
				}
				time.Sleep(10 * time.Second)
				f.freeze(false)
				for _, name := range named(5) {
					c.Resume(name)
				}
				time.Sleep(13 * time.Second)
			})
		}
		require.Equal(t, 1, census.Started())
		c.Crash("n1") // they still notice a node that really dies
		whole(t, c, detection+stableAfter+time.Second, named(5)[1:]...)
	})
}
