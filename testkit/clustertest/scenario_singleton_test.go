package clustertest_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

func lowestAddress(_ string, cfg *cluster.Config) { cfg.Leader = cluster.LowestAddress() }

// beginWith is begin for clusters with settings of their own.
func beginWith(t *testing.T, nodes int, opts ...clustertest.Option) *story {
	t.Helper()
	s := &story{Cluster: clustertest.Start(t, nodes, opts...), t: t, census: testkit.NewCensus(t), logs: make(map[string]actor.ActorRef[Entry])}
	s.journal = journal.NewMemory()
	for _, n := range s.Nodes() {
		s.manage(n.View().Self.Name)
	}
	s.AwaitQuiet()
	return s
}

// manage spawns the log on a node.
func (s *story) manage(node string) {
	s.logs[node] = actor.Spawn(s.Node(node), behaviors.Singleton(testkit.Counted(s.census, entries(s.journal))), "log")
}

func TestANodeWithALowerAddressTakesTheLogOverAndNothingIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := beginWith(t, 3, lowestAddress)
		require.Equal(t, "n1", s.host())
		s.write("n3", 0, 100)
		s.Add("n0")
		s.manage("n0")
		s.write("n3", 100, 200)
		time.Sleep(time.Second)
		require.Equal(t, "n0", s.host())
		require.Equal(t, numbers(200), s.all("n3"))
		require.Equal(t, 1, s.census.Peak(), "the old instance has ended before the new one starts")
		require.Zero(t, s.Node("n3").DeadLetters())
	})
}

func TestSeveralNodesThatJoinMoveTheLogToTheFirstOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := beginWith(t, 3, lowestAddress)
		for _, name := range []string{"n00", "n0", "n01"} {
			s.Add(name)
			s.manage(name)
		}
		time.Sleep(2 * time.Second)
		require.Equal(t, "n00", s.host(), "n00:7355 sorts before n01:7355, n0:7355 and n1:7355")
		require.Equal(t, 1, s.census.Peak())
	})
}

func TestTheHostAndTheNextCandidateLeaveTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := beginWith(t, 3)
		s.write("n3", 0, 50)
		left := make(chan error, 2)
		for _, name := range []string{"n1", "n2"} {
			go func() { left <- s.Node(name).Leave(t.Context()) }()
		}
		s.write("n3", 50, 100)
		time.Sleep(time.Second)
		require.Equal(t, "n3", s.host())
		require.Equal(t, numbers(100), s.all("n3"))
		require.Equal(t, 1, s.census.Peak())
		require.NoError(t, <-left)
		require.NoError(t, <-left)
	})
}

func TestTheLogEndsWithTheLastNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := beginWith(t, 3)
		for _, name := range []string{"n1", "n2", "n3"} {
			begin := time.Now()
			require.NoError(t, s.Node(name).Leave(t.Context()))
			require.Less(t, time.Since(begin), 3*time.Second)
		}
		require.Zero(t, s.census.Running())
		require.Equal(t, 1, s.census.Peak())
	})
}

func TestTheNextHostWaitsForAnInstanceThatTakesLongToStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		census := testkit.NewCensus(t)
		slow := func() actor.Behavior[int] {
			return behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
				if n == 0 { // its stop message
					time.Sleep(20 * time.Second)
					return behaviors.Stopped
				}
				return behaviors.Same
			})
		}
		for _, n := range c.Nodes() {
			n.SetPhaseTimeout(actor.ActorsStop, time.Minute) // for the node that leaves last
			actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, slow), singleton.StopMessage(0)), "slow")
		}
		c.AwaitQuiet()
		left := make(chan error, 1)
		go func() { left <- c.Node("n1").Leave(t.Context()) }()
		time.Sleep(19 * time.Second)
		require.Equal(t, 1, census.Started(), "nobody starts one while the first may still run")
		time.Sleep(2 * time.Second)
		require.Equal(t, 2, census.Started())
		require.Equal(t, 1, census.Peak())
		require.NoError(t, <-left)
	})
}

func TestAnInstanceThatFencesNothingWaitsForTheMargin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		census := testkit.NewCensus(t)
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, ticker)), "ticker")
		}
		c.AwaitQuiet()
		c.Crash("n1")
		time.Sleep(13 * time.Second)
		require.Equal(t, 1, census.Started(), "what was cut off and not dead would still be stopping")
		time.Sleep(5 * time.Second) // detection 0.8 s, stable-after 3 s, margin 13 s
		require.Equal(t, 2, census.Started())
	})
}

func TestAHostThatIsCutOffStopsItselfBeforeTheMajorityStartsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		census := testkit.NewCensus(t)
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, ticker)), "ticker")
		}
		c.AwaitQuiet()
		c.Partition([]string{"n1"}, []string{"n2", "n3"})
		time.Sleep(5 * time.Second)
		require.Zero(t, census.Running(), "it has stopped itself after detection and stable-after")
		time.Sleep(13 * time.Second)
		require.Equal(t, 1, census.Running())
		require.Equal(t, 1, census.Peak())
		c.Heal()
		c.AwaitQuiet()
		require.Equal(t, 2, census.Started(), "healing moves nothing")
	})
}

func TestTwoIslandsWithOneJournalBecomeOneWithOneLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &story{Cluster: clustertest.Start(t, 2), t: t, census: testkit.NewCensus(t), logs: make(map[string]actor.ActorRef[Entry])}
		s.journal = journal.NewMemory()
		s.Partition([]string{"n1", "n2"}, []string{"n8", "n9"})
		island := func(_ string, cfg *cluster.Config) { cfg.Seeds = []string{"n8:7355"} }
		s.Add("n8", island)
		s.Add("n9", island)
		for _, n := range s.Nodes() {
			s.manage(n.View().Self.Name)
		}
		time.Sleep(time.Second)
		require.Equal(t, 2, s.census.Running(), "one on each island")
		s.write("n1", 0, 10)
		s.write("n9", 10, 20)
		time.Sleep(time.Second)
		s.Heal()
		s.Add("n5", func(_ string, cfg *cluster.Config) { cfg.Seeds = []string{"n1:7355", "n8:7355"} }) // knows both
		time.Sleep(15 * time.Second)
		s.AwaitQuiet()
		require.Len(t, s.Node("n9").View().Members, 5)
		require.Equal(t, 1, s.census.Running())
		s.manage("n5")
		all := s.all("n5")
		seen := map[int]int{}
		for _, n := range all {
			seen[n]++
			require.Equal(t, 1, seen[n], "entry %d is there twice", n)
		}
		require.Subset(t, numbers(20), all)
	})
}

// The senders are faster than any buffer.
func TestAFloodDuringAHandOverIsBoundedOrderedAndAccountedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const flood = 50_000
		c := clustertest.Start(t, 3)
		var received, disorder atomic.Int64
		var last atomic.Int64
		sink := func() actor.Behavior[int] {
			return behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
				received.Add(1)
				if int64(n) <= last.Swap(int64(n)) {
					disorder.Add(1)
				}
				return behaviors.Same
			})
		}
		refs := map[string]actor.ActorRef[int]{}
		for _, n := range c.Nodes() {
			refs[n.View().Self.Name] = actor.Spawn(n, behaviors.Singleton(sink), "sink")
		}
		c.AwaitQuiet()
		left := make(chan error, 1)
		go func() { left <- c.Node("n1").Leave(t.Context()) }()
		for n := 1; n <= flood; n++ {
			refs["n3"].Tell(n)
			if n%100 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		require.NoError(t, <-left)
		time.Sleep(5 * time.Second)
		dropped := int64(c.Node("n2").DeadLetters() + c.Node("n3").DeadLetters())
		require.Zero(t, disorder.Load(), "of one sender, in order")
		require.EqualValues(t, flood, received.Load()+dropped, "every message was delivered or is a dead letter")
		require.Greater(t, received.Load(), int64(flood/2))
	})
}
