package clustertest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// generation returns the generation of the log's instance on a node, or of the last one there.
func (s *story) generation(node string) singleton.Generation {
	s.t.Helper()
	status, ok := singleton.StatusOf(s.Node(node).System, "log")
	require.True(s.t, ok)
	return status.Generation
}

// Two singletons have different roles, and three nodes have neither role. Each
// singleton is on the node of its role with the lowest address. When no node has the role any more,
// messages wait, and those beyond the buffer become dead letters.
func TestSingletonsRunWhereTheirRoleIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		roles := map[string][]string{"n2": {"red"}, "n3": {"blue"}, "n4": {"red"}, "n6": {"blue"}}
		c := clustertest.Start(t, 7, func(name string, cfg *cluster.Config) { cfg.Roles = roles[name] })
		censuses, refs := map[string]*testkit.Census{}, map[string]actor.ActorRef[int]{}
		for _, role := range []string{"red", "blue"} {
			censuses[role] = testkit.NewCensus(t)
			for _, n := range c.Nodes() {
				ref := actor.Spawn(n, behaviors.Singleton(testkit.Counted(censuses[role], ticker), singleton.Role(role), singleton.Buffer(10)), role)
				if n.View().Self.Name == "n1" {
					refs[role] = ref
				}
			}
		}
		c.AwaitQuiet()
		host := func(role string) string {
			status, ok := singleton.StatusOf(c.Node("n1").System, role)
			require.True(t, ok)
			return status.Host
		}
		require.Equal(t, "n2:7355", host("red"))
		require.Equal(t, "n3:7355", host("blue"))

		c.Leave("n2")
		time.Sleep(time.Second)
		require.Equal(t, "n4:7355", host("red"), "the next of its role")
		require.Equal(t, "n3:7355", host("blue"), "the other is not concerned")
		c.Leave("n4")
		time.Sleep(time.Second)
		require.Empty(t, host("red"), "nobody can")
		require.Zero(t, censuses["red"].Running())
		require.Equal(t, 1, censuses["red"].Peak())
		require.Equal(t, 1, censuses["blue"].Started())

		before := c.Node("n1").DeadLetters()
		for range 15 {
			refs["red"].Tell(1)
		}
		time.Sleep(long(5 * time.Minute))
		require.Equal(t, before+5, c.Node("n1").DeadLetters(), "ten are kept, for as long as it takes")
		status, _ := singleton.StatusOf(c.Node("n1").System, "red")
		require.Equal(t, 10, status.Held)
	})
}

// An instance that fails as soon as it starts stays where it is. It is started again
// with growing delays, its generation grows only in the sequence number, and membership does not
// notice.
func TestAnInstanceThatFailsInALoopStaysOnItsHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		census := testkit.NewCensus(t)
		doomed := func() actor.Behavior[int] {
			return behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
				ctx.Self().Tell(0)
				return behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] { panic("doomed") })
			})
		}
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, doomed)), "doomed")
		}
		status := func() singleton.Status {
			s, ok := singleton.StatusOf(c.Node("n1").System, "doomed")
			require.True(t, ok)
			return s
		}
		time.Sleep(time.Second)
		first := status().Generation
		wait := long(10 * time.Minute)
		untouched(t, c, func() { time.Sleep(wait) })
		last := status()
		require.Equal(t, first.Term, last.Generation.Term)
		require.InDelta(t, census.Started(), last.Generation.Seq, 1, "one may be about to start")
		require.Equal(t, "n1:7355", last.Host)
		require.Equal(t, 1, census.Peak())
		require.Greater(t, census.Started(), int(wait/(12*time.Second)), "it is tried for ever")
		require.Less(t, census.Started(), int(wait/(3*time.Second))+5, "every four seconds, after a while")
	})
}

func TestShutdownIsQuickWhileSingletonsMoveAndNodesJoin(t *testing.T) {
	quick := func(t *testing.T, n *cluster.Node) {
		t.Helper()
		begin := time.Now()
		require.NoError(t, n.Shutdown(context.Background()))
		require.LessOrEqual(t, time.Since(begin), 2*time.Second)
	}
	for name, disturb := range map[string]func(s *story){
		"hosting": func(*story) {},
		"handing over": func(s *story) {
			go func() { _ = s.Node("n1").Leave(context.Background()) }()
			time.Sleep(time.Millisecond)
		},
		"taking over": func(s *story) { s.Crash("n2"); time.Sleep(4 * time.Second) },
		"cut off":     func(s *story) { s.Partition([]string{"n1"}); time.Sleep(4 * time.Second) },
		"stopped":     func(s *story) { s.Partition([]string{"n1"}); time.Sleep(time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := begin(t, 3)
				s.write("n1", 0, 10)
				disturb(s)
				n1 := s.Node("n1")
				quick(t, n1)
				started := s.census.Started()
				version := n1.View().Version
				time.Sleep(long(time.Minute))
				require.Equal(t, version, n1.View().Version)
				require.LessOrEqual(t, s.census.Started(), started+1, "on another node")
				for v := range n1.Views(t.Context()) { // the last one, and then no more
					require.NotEqual(t, cluster.Up, v.Self.Status)
				}
			})
		})
	}
	t.Run("joining", func(t *testing.T) {
		scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
			c.Crash("n3")
			time.Sleep(detection)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan time.Time, 1)
			cfg := c.Config("n4")
			go func() {
				_, _ = cluster.Start(ctx, cfg)
				ended <- time.Now()
			}()
			time.Sleep(time.Second)
			m, _ := c.Node("n1").View().Member("n4")
			require.Equal(t, cluster.Joining, m.Status)
			begin := time.Now()
			cancel()
			require.LessOrEqual(t, (<-ended).Sub(begin), 2*time.Second)
			whole(t, c, detection+2*stableAfter, "n1", "n2")
		})
	})
}
