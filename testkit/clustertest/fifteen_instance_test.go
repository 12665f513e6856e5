//go:build !quick

package clustertest_test

import (
	"context"
	"sync"
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

// Order is the message of the singletons of these tests: "panic" and "stop" end the instance.
type Order struct {
	Do      string
	ReplyTo actor.ActorRef[string]
}

func init() { actor.RegisterType[Order]("clustertest.order") }

// obedient returns a factory of instances that answer with the dependency that they were created
// with.
func obedient(given string) func() actor.Behavior[Order] {
	return func() actor.Behavior[Order] {
		return behaviors.Receive(func(ctx *actor.Context[Order], o Order) actor.Behavior[Order] {
			switch o.Do {
			case "panic":
				panic("told to")
			case "stop":
				return behaviors.Stopped
			case "finish":
				singleton.Finish(ctx)
				return behaviors.Stopped
			}
			o.ReplyTo.Tell(given)
			return behaviors.Same
		})
	}
}

// obeying is a cluster with an obedient singleton. The dependency of each instance is the name of
// its node.
func obeying(t *testing.T, nodes int) (c *clustertest.Cluster, census *testkit.Census, refs map[string]actor.ActorRef[Order]) {
	t.Helper()
	c, census, refs = clustertest.Start(t, nodes), testkit.NewCensus(t), map[string]actor.ActorRef[Order]{}
	for _, name := range named(nodes) {
		refs[name] = actor.Spawn(c.Node(name), behaviors.Singleton(testkit.Counted(census, obedient(name))), "obedient")
	}
	c.AwaitQuiet()
	return c, census, refs
}

// given asks for the dependency of the instance, and waits for a failover if necessary.
func given(t *testing.T, ref actor.ActorRef[Order]) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	what, err := actor.Ask(ctx, ref, func(replyTo actor.ActorRef[string]) Order { return Order{ReplyTo: replyTo} })
	require.NoError(t, err)
	return what
}

// backoff is the first delay of a restart in place, with its jitter.
const backoff = 120 * time.Millisecond

// endsAndIsBack ends the instance by an order. It requires that another instance starts on the same
// host within the backoff, that only the status shows it, and that messages sent meanwhile arrive.
func endsAndIsBack(t *testing.T, order string) {
	synctest.Test(t, func(t *testing.T) {
		c, census, refs := obeying(t, 3)
		status := func() singleton.Status {
			s, ok := singleton.StatusOf(c.Node("n1").System, "obedient")
			require.True(t, ok)
			return s
		}
		first := status()
		require.True(t, first.Here)
		untouched(t, c, func() {
			refs["n3"].Tell(Order{Do: order})
			time.Sleep(20 * time.Millisecond)
			during := status()
			require.False(t, during.Here, "that is to be seen")
			require.Equal(t, singleton.Host, during.Phase)
			require.Positive(t, during.Generation.Seq)
			for _, name := range named(3) {
				require.Equal(t, "n1", given(t, refs[name]), "asked while there was none")
			}
			timeline := census.Timeline()
			require.Len(t, timeline, 3, "started, ended, started")
			require.LessOrEqual(t, timeline[2].Time.Sub(timeline[1].Time), backoff)
		})
		require.True(t, first.Generation.Less(status().Generation), "it is another instance")
		require.Equal(t, first.Generation.Term, status().Generation.Term, "of the same host")
		for _, name := range named(3) {
			require.Zero(t, c.Node(name).DeadLetters())
		}
	})
}

func TestAPanicInTheInstanceOnAHealthyHostIsBackWithinTheBackoff(t *testing.T) {
	endsAndIsBack(t, "panic")
}

// A failed instance is started again, which its status shows. See
// [singleton.RestartBackoff].
func TestAnInstanceThatStopsItselfIsStartedAgainAndThatIsToBeSeen(t *testing.T) {
	endsAndIsBack(t, "stop")
}

func TestAnInstanceThatHasFinishedIsNotStartedAgainWhateverHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, census, refs := obeying(t, 5)
		refs["n3"].Tell(Order{Do: "finish"})
		time.Sleep(time.Second)
		require.Zero(t, census.Running())
		for _, name := range named(5) {
			s, ok := singleton.StatusOf(c.Node(name).System, "obedient")
			require.True(t, ok)
			require.Equal(t, singleton.Ended, s.Phase, name)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := actor.Ask(ctx, refs[name], func(replyTo actor.ActorRef[string]) Order { return Order{ReplyTo: replyTo} })
			cancel()
			require.ErrorIs(t, err, singleton.ErrFinished)
			require.EqualValues(t, 1, c.Node(name).DeadLetters())
		}
		c.Leave("n1")
		c.Crash("n2")
		n := c.Add("n6")
		actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, obedient("n6"))), "obedient")
		time.Sleep(time.Minute)
		require.Equal(t, 1, census.Started())
	})
}

// Kill -9 of the host, and another process at its address half a second later. (With
// real processes: AProcessThatIsStartedAgainTakesTheOldOnesPlaceAtOnce of internal/lab/nemesis.)
func TestAHostThatIsKilledAndStartedAgainAtItsAddressWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, 3)
		s.write("n3", 0, 10)
		require.Equal(t, numbers(10), s.all("n3"))
		first, killed := s.generation("n1"), s.Node("n1")
		s.Network().Crash("n1") // not Kill, which takes seconds to end the rest of the node
		var ends sync.WaitGroup
		ends.Go(func() { _ = killed.Shutdown(t.Context()) })
		<-killed.Terminated()
		time.Sleep(500 * time.Millisecond)
		s.write("n3", 10, 20)
		s.Add("n1")
		s.manage("n1")
		require.Equal(t, numbers(20), s.all("n3"))
		require.Equal(t, numbers(20), s.all("n1"), "the new process reaches it as well")
		whole(t, s.Cluster, 3*time.Second, named(3)...)
		s.AwaitQuiet()
		require.Equal(t, "n2", s.host(), "the new process is the youngest member")
		require.True(t, first.Less(s.generation("n2")))
		require.Equal(t, 2, s.census.Started())
		require.Equal(t, 1, s.census.Peak())
		timeline := s.census.Timeline()
		require.Less(t, timeline[2].Time.Sub(timeline[1].Time), 2*time.Second, "the new process is the proof that the old one is dead")
		ends.Wait()
	})
}

// The factory of each node has a dependency of its own. Wherever the instance moves, it has
// the dependency of its node.
func TestADependencyThatWasInjectedIsThereAfterTwoFailovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, census, refs := obeying(t, 5)
		require.Equal(t, "n1", given(t, refs["n5"]))
		c.Crash("n1")
		time.Sleep(time.Second) // messages sent before any node suspects it are lost
		require.Equal(t, "n2", given(t, refs["n5"]))
		c.AwaitQuiet()
		c.Crash("n2")
		time.Sleep(time.Second)
		require.Equal(t, "n3", given(t, refs["n5"]))
		require.Equal(t, 3, census.Started())
		require.Equal(t, 1, census.Peak())
	})
}

// With the whole stack: five nodes that start at the same moment, each with its singleton as
// soon as it is up. The network differs in each run, and so does the order in which nodes come up.
// The pure state machines are tested with a thousand seeds: see package singleton and, for how the
// cluster forms, TestNodesStartedAtOnceAreOneClusterInSeconds in package cluster.
func TestNodesThatAllStartAtOnceHaveOneInstance(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			c := clustertest.Start(t, 0)
			c.Delay(time.Millisecond, 20*time.Millisecond)
			census := testkit.NewCensus(t)
			var all sync.WaitGroup
			nodes := make([]*cluster.Node, 5)
			for i, name := range named(5) {
				cfg := c.Config(name)
				cfg.Seeds = nil
				for _, seed := range named(5) {
					cfg.Seeds = append(cfg.Seeds, seed+":7355")
				}
				all.Go(func() {
					n, err := cluster.Start(t.Context(), cfg)
					if err == nil {
						nodes[i] = n
						actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, obedient(name))), "obedient")
					}
				})
			}
			all.Wait()
			require.NotContains(t, nodes, (*cluster.Node)(nil))
			time.Sleep(3 * time.Second)
			require.Equal(t, 1, census.Running())
			time.Sleep(10 * time.Second)
			require.Equal(t, 1, census.Running())
			require.Equal(t, 1, census.Peak())
			host := singleton.Statuses(nodes[0].System)[0].Host
			for _, n := range nodes {
				require.Equal(t, host, singleton.Statuses(n.System)[0].Host)
			}
			for _, n := range nodes {
				all.Go(func() { _ = n.Shutdown(context.Background()) })
			}
			all.Wait()
		})
	}
}

// Five nodes restart one after the other. In the order n1 to n5, each node is the oldest,
// and so the host, when its turn comes. In the opposite order only the last one is.
func TestARollingRestartHandsOverOnceForEachRestartOfTheHost(t *testing.T) {
	for name, tt := range map[string]struct {
		order     []string
		handOvers int
	}{
		"the oldest first":   {[]string{"n1", "n2", "n3", "n4", "n5"}, 5},
		"the youngest first": {[]string{"n5", "n4", "n3", "n2", "n1"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, census, refs := obeying(t, 5)
				for _, restarts := range tt.order {
					c.Leave(restarts)
					n := c.Add(restarts)
					refs[restarts] = actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, obedient(restarts))), "obedient")
					c.AwaitQuiet()
					given(t, refs[restarts])
				}
				require.Equal(t, tt.handOvers, census.Started()-1)
				require.Equal(t, 1, census.Peak())
				timeline := census.Timeline()
				for i := 2; i < len(timeline); i += 2 {
					gap := timeline[i].Time.Sub(timeline[i-1].Time)
					require.Less(t, gap, 300*time.Millisecond)
				}
			})
		})
	}
}

// The singleton gets no messages and works by the clock. It continues within
// the bound of a hand-over, and after a crash of its host within the bound of a failover.
func TestASchedulerWithoutCallersGoesOnWithinTheHandOverBound(t *testing.T) {
	const period = 100 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 5)
		var mu sync.Mutex // guards ticks
		var ticks []time.Time
		scheduler := func() actor.Behavior[int] {
			return behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
				ctx.Every("tick", period, 0)
				return behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
					mu.Lock()
					defer mu.Unlock()
					ticks = append(ticks, time.Now())
					return behaviors.Same
				})
			})
		}
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(scheduler), "scheduler")
		}
		c.AwaitQuiet()
		silence := func(disturb func()) (longest time.Duration) {
			mu.Lock()
			ticks = ticks[len(ticks)-1:]
			mu.Unlock()
			disturb()
			mu.Lock()
			defer mu.Unlock()
			for i := 1; i < len(ticks); i++ {
				gap := ticks[i].Sub(ticks[i-1])
				longest = max(longest, gap)
				require.GreaterOrEqual(t, gap, period/2, "two that run would tick in between")
			}
			return longest
		}
		require.Equal(t, period, silence(func() { time.Sleep(10 * time.Second) }))
		moved := silence(func() { c.Leave("n1"); time.Sleep(time.Second) })
		require.Less(t, moved, 300*time.Millisecond+period)
		for _, host := range []string{"n2", "n3"} {
			crashed := silence(func() { c.Crash(host); time.Sleep(30 * time.Second) })
			require.Less(t, crashed, detection+stableAfter+13*time.Second+time.Second+period)
			require.Greater(t, crashed, 13*time.Second, "nothing fences it: the margin is waited for")
		}
	})
}
