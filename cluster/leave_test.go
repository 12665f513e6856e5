package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/cluster/internal/membership"
)

func TestACrashedNodeIsRemoved(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1")
		f.start("n2")
		f.start("n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		f.crash("n1")
		time.Sleep(900 * time.Millisecond)
		require.Len(t, f.nodes["n2"].View().Unreachable(), 1, "noticed in less than a second")
		leader, _ := f.nodes["n2"].View().Leader()
		require.Equal(t, "n1", leader.Name, "being unreachable moves nothing")
		f.await(4*time.Second, "n2", "n3")
		leader, _ = f.nodes["n2"].View().Leader()
		require.Equal(t, "n2", leader.Name)
	})
}

func TestANodeThatRestartsAtOnceTakesThePlaceOfTheOldOne(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		f.crash("n2")
		begin := time.Now()
		f.start("n2")
		f.await(time.Second, "n1", "n2", "n3")
		require.Less(t, time.Since(begin), 2*time.Second, "nobody waits for the detector")
		require.Empty(t, membership.UncleanRemovals(f.nodes["n1"].View().in), "the old one is certainly dead")
	})
}

func TestAllNodesRestartAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start(five...)
		f.await(3*time.Second, five...)
		for _, name := range five {
			f.crash(name)
		}
		f.start(five...)
		f.await(5*time.Second, five...)
	})
}

func TestAllNodesAreKilledOneAfterTheOtherAndStartAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start(five...)
		f.await(3*time.Second, five...)
		for _, name := range five {
			f.crash(name)
			time.Sleep(200 * time.Millisecond) // all five crash within a second
		}
		began := make(chan error)
		for i, name := range five {
			cfg := f.config(name)
			go func() {
				time.Sleep(time.Duration(i) * 3 * time.Second)
				n, err := Start(context.Background(), cfg)
				f.mu.Lock()
				f.nodes[name] = n
				f.mu.Unlock()
				began <- err
			}()
		}
		for range five {
			require.NoError(t, <-began)
		}
		f.await(5*time.Second, five...)
	})
}

func TestANodeLeaves(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		n1 := f.nodes["n1"]
		begin := time.Now()
		require.NoError(t, n1.Leave(t.Context()))
		require.Less(t, time.Since(begin), 3*time.Second)
		require.Equal(t, Removed, n1.View().Self.Status)
		<-n1.Terminated()
		delete(f.nodes, "n1")
		f.await(100*time.Millisecond, "n2", "n3")
		require.Empty(t, membership.UncleanRemovals(f.nodes["n2"].View().in), "it has said that nothing of it runs")
		require.NoError(t, n1.Leave(t.Context()), "leaving again is nothing new")
	})
}

func TestAllNodesLeaveAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		left := make(chan error)
		for name, n := range f.nodes {
			delete(f.nodes, name)
			go func() { left <- n.Leave(context.Background()) }()
		}
		for range 3 {
			require.NoError(t, <-left)
		}
	})
}

// A node that is cut off leaves within seconds, although nobody hears it and nobody takes over:
// both while the others are still missed, and when it is down and looks for a cluster.
func TestANodeThatIsCutOffLeavesInSeconds(t *testing.T) {
	for _, after := range []time.Duration{0, 2 * time.Second, 10 * time.Second} {
		for _, strategy := range []Downing{downing.Manual{}, downing.KeepMajority{}} {
			inBubble(t, func(t *testing.T, f *testCluster) {
				f.tune = func(cfg *Config) { cfg.Downing = strategy }
				f.start("n1", "n2", "n3")
				f.await(3*time.Second, "n1", "n2", "n3")
				f.net.Partition([]string{"n1"}, []string{"n2"}, []string{"n3"})
				time.Sleep(after)
				for name, n := range f.nodes {
					begin := time.Now()
					require.NoError(t, n.Leave(t.Context()))
					require.Less(t, time.Since(begin), 5*time.Second, "%s, %v after the cut, %v", name, after, strategy)
					delete(f.nodes, name)
				}
			})
		}
	}
}

func TestLeaveEndsWithItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2")
		f.await(3*time.Second, "n1", "n2")
		n2 := f.nodes["n2"]
		delete(f.nodes, "n2")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, n2.Leave(ctx), context.Canceled)
		require.NoError(t, n2.Leave(t.Context()), "what was left over has ended now")
		f.await(5*time.Second, "n1")
	})
}

func TestShutdownTellsTheOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		require.NoError(t, f.nodes["n2"].Shutdown(t.Context()))
		delete(f.nodes, "n2")
		f.await(100*time.Millisecond, "n1", "n3")
	})
}

func TestAnOperatorDownsAMember(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		before := f.nodes["n2"].View().Self
		require.NoError(t, f.nodes["n1"].Down("n2"))
		require.ErrorIs(t, f.nodes["n1"].Down("n9"), ErrNotMember)
		time.Sleep(5 * time.Second)
		f.await(0, "n1", "n2", "n3")
		require.NotEqual(t, before.Incarnation, f.nodes["n2"].View().Self.Incarnation, "it has come back as another one")
		require.NoError(t, context.Cause(f.nodes["n2"].aborted), "with the same actor system")
	})
}

func TestADownedNodeStaysDownIfItIsTold(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = func(c *Config) { c.StayDown = true }
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		require.NoError(t, f.nodes["n1"].Down("n2"))
		<-f.nodes["n2"].Terminated()
		require.Equal(t, Removed, f.nodes["n2"].View().Self.Status)
		f.await(time.Second, "n1", "n3")
	})
}

func TestViewsBeginWithTheCurrentOneAndEndWithTheLast(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2")
		f.await(3*time.Second, "n1", "n2")
		n1 := f.nodes["n1"]
		var seen []View
		for v := range n1.Views(t.Context()) {
			if seen = append(seen, v); len(seen) == 1 {
				require.Len(t, v.Members, 2)
				go func() { _ = n1.Leave(context.Background()) }()
			}
			time.Sleep(time.Second) // a slow reader
		}
		require.Equal(t, Removed, seen[len(seen)-1].Self.Status)
		require.Less(t, len(seen), 5, "it has missed some, but not the last")
		for v := range n1.Views(t.Context()) {
			seen = append(seen[:0], v)
		}
		require.Len(t, seen, 1, "of a node that has ended there is only the last")
		for i := 1; i < len(seen); i++ {
			require.Greater(t, seen[i].Version, seen[i-1].Version)
		}
		delete(f.nodes, "n1")
		require.NoError(t, n1.Leave(t.Context()))
	})
}
