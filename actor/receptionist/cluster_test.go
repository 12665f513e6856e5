package receptionist_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// inCluster runs f with a cluster of n nodes, in a bubble.
func inCluster(t *testing.T, n int, f func(t *testing.T, c *clustertest.Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, clustertest.Start(t, n)) })
}

// hire spawns a worker on a node, and registers it.
func hire(n *cluster.Node, name string) actor.ActorRef[job] {
	return actor.Spawn(n, behaviors.Discoverable(workers, worker()), name)
}

// listed returns which workers a node lists, as "address/name", and those that cannot be
// reached with a "?".
func listed(n *cluster.Node) []string {
	all := []string{}
	for _, i := range receptionist.Find(n.System, workers).Instances {
		name := i.Ref.Path()[len("understudy://test@"):]
		if !i.Reachable {
			name += "?"
		}
		all = append(all, name)
	}
	return all
}

func at(names ...string) []string {
	all := []string{}
	for i := 0; i < len(names); i += 2 {
		all = append(all, names[i]+":7355/user/"+names[i+1])
	}
	return all
}

func TestEveryNodeFindsWhatIsRegisteredAnywhere(t *testing.T) {
	inCluster(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		a := hire(c.Node("n1"), "a")
		hire(c.Node("n2"), "b")
		time.Sleep(time.Second)
		for _, n := range c.Nodes() {
			require.Equal(t, at("n1", "a", "n2", "b"), listed(n))
		}
		found := receptionist.Find(c.Node("n3").System, workers).Instances
		require.False(t, found[0].Local)
		require.Equal(t, "n1:7355", found[0].Node)
		require.Equal(t, found, receptionist.Find(c.Node("n3").System, workers).Instances, "the refs are the same each time")

		found[0].Ref.Tell(job{})
		time.Sleep(time.Second)
		for _, n := range c.Nodes() {
			require.Equal(t, at("n2", "b"), listed(n))
		}
		require.NotEqual(t, a, found[0].Ref)
	})
}

func TestAnAdapterIsToldFromOtherNodes(t *testing.T) {
	inCluster(t, 2, func(t *testing.T, c *clustertest.Cluster) {
		probe := testkit.NewProbe[string](t, c.Node("n1").System)
		actor.Spawn(c.Node("n1"), behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
			receptionist.Register(ctx.System(), workers, actor.Adapt(ctx, func(j job) string { return j.What }))
			return behaviors.Receive(func(_ *actor.Context[string], what string) actor.Behavior[string] {
				probe.Ref().Tell(what)
				return behaviors.Same
			})
		}), "a")
		time.Sleep(time.Second)
		receptionist.Find(c.Node("n2").System, workers).All()[0].Tell(job{"dig"})
		probe.Expect("dig")
	})
}

func TestANodeThatJoinsLearnsEverything(t *testing.T) {
	inCluster(t, 2, func(t *testing.T, c *clustertest.Cluster) {
		hire(c.Node("n1"), "a")
		n3 := c.Add("n3")
		time.Sleep(time.Second)
		require.Equal(t, at("n1", "a"), listed(n3))
		hire(n3, "c")
		time.Sleep(time.Second)
		require.Equal(t, at("n1", "a", "n3", "c"), listed(c.Node("n2")))
	})
}

func TestWhatANodeThatLeavesHadVanishes(t *testing.T) {
	inCluster(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		hire(c.Node("n1"), "a")
		hire(c.Node("n3"), "c")
		time.Sleep(time.Second)
		c.Leave("n3")
		time.Sleep(time.Second)
		require.Equal(t, at("n1", "a"), listed(c.Node("n1")))
		require.Equal(t, at("n1", "a"), listed(c.Node("n2")))
	})
}

func TestInstancesOfACrashedNodeAreUnreachableAndVanishWhenItIsRemoved(t *testing.T) {
	inCluster(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		hire(c.Node("n1"), "a")
		hire(c.Node("n3"), "c")
		time.Sleep(time.Second)
		c.Crash("n3")
		time.Sleep(1500 * time.Millisecond)
		require.Equal(t, []string{"n1:7355/user/a", "n3:7355/user/c?"}, listed(c.Node("n2")))
		require.Len(t, receptionist.Find(c.Node("n2").System, workers).Reachable(), 1)
		time.Sleep(10 * time.Second)
		require.Equal(t, at("n1", "a"), listed(c.Node("n2")))
	})
}

func TestAQuickRestartAtTheSameAddressResurrectsNothing(t *testing.T) {
	inCluster(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		hire(c.Node("n3"), "old")
		time.Sleep(time.Second)
		c.Delay(50*time.Millisecond, 50*time.Millisecond)
		n3 := c.Restart("n3")
		hire(n3, "new")
		for range 100 {
			time.Sleep(time.Second)
			for _, n := range c.Nodes() {
				require.Equal(t, at("n3", "new"), listed(n))
			}
		}
	})
}

func TestNothingIsMissedThroughAPartition(t *testing.T) {
	inCluster(t, 5, func(t *testing.T, c *clustertest.Cluster) {
		hire(c.Node("n1"), "a")
		b := hire(c.Node("n4"), "b")
		time.Sleep(time.Second)
		c.Partition([]string{"n1", "n2"}, []string{"n3", "n4", "n5"})
		time.Sleep(time.Second)
		hire(c.Node("n1"), "c")
		hire(c.Node("n5"), "d")
		b.Tell(job{})
		time.Sleep(time.Minute)
		require.Equal(t, at("n5", "d"), listed(c.Node("n3")), "the other side has been removed")
		require.Equal(t, at("n1", "a", "n1", "c"), listed(c.Node("n1")), "the node's own")
		c.Heal()
		c.AwaitQuiet()
		time.Sleep(time.Second)
		for _, n := range c.Nodes() {
			require.Equal(t, at("n1", "a", "n1", "c", "n5", "d"), listed(n))
		}
	})
}

// another is the type that other nodes use for jobs.
type another struct{ Much int }

func init() { actor.RegisterType[another]("receptionist_test.another") }

func TestAnActorOfAnotherTypeOnAnotherNodeIsAClearError(t *testing.T) {
	inCluster(t, 2, func(t *testing.T, c *clustertest.Cluster) {
		n1, n2 := c.Node("n1"), c.Node("n2")
		probe := testkit.NewProbe[receptionist.Mismatch](t, n2.System)
		actor.Subscribe(n2.System, probe.Ref())
		ref := actor.Spawn(n1, behaviors.Discoverable(receptionist.NewKey[another]("workers"), behaviors.Ignore), "odd")
		time.Sleep(time.Second)
		probe.ExpectNone(time.Minute)

		b := hire(n2, "b")
		m := probe.Receive()
		require.Equal(t, receptionist.Mismatch{
			Service: "workers", Ref: ref.String(), Type: "receptionist_test.another", Expected: "receptionist_test.job", Err: m.Err,
		}, m)
		l := receptionist.Find(n2.System, workers)
		require.Equal(t, []actor.ActorRef[job]{b}, l.All())
		require.ErrorIs(t, l.Err, actor.ErrWrongType)
		require.ErrorContains(t, l.Err, ref.String()+" takes receptionist_test.another, and this node expects receptionist_test.job")
		probe.ExpectNone(time.Minute)
	})
}

func TestAClientLooksAServiceUpByANode(t *testing.T) {
	inCluster(t, 2, func(t *testing.T, c *clustertest.Cluster) {
		probe := testkit.NewProbe[job](t, c.Node("n2").System)
		receptionist.Register(c.Node("n2").System, workers, probe.Ref())
		time.Sleep(time.Second)
		client := c.Dial("client")
		l, err := receptionist.Lookup(t.Context(), client.System, client.Contact(), workers)
		require.NoError(t, err)
		require.Len(t, l.Reachable(), 1)
		require.Equal(t, "n2:7355", l.Instances[0].Node)
		require.False(t, l.Instances[0].Local)
		l.Instances[0].Ref.Tell(job{"dig"})
		probe.Expect(job{"dig"})

		odd, err := receptionist.Lookup(t.Context(), client.System, client.Contact(), receptionist.NewKey[another]("workers"))
		require.NoError(t, err)
		require.Empty(t, odd.Instances)
		require.ErrorIs(t, odd.Err, actor.ErrWrongType)

		c.Crash("n1")
		c.Crash("n2")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = receptionist.Lookup(ctx, client.System, "n1:7355", workers)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, `look up service "workers" at n1:7355`)
	})
}

func TestAThousandServicesOnFiveNodes(t *testing.T) {
	inCluster(t, 5, func(t *testing.T, c *clustertest.Cluster) {
		key := func(i int) receptionist.ServiceKey[job] { return receptionist.NewKey[job](fmt.Sprint("service-", i)) }
		for _, n := range c.Nodes() {
			for i := range 1000 {
				receptionist.Register(n.System, key(i), actor.Spawn(n, worker(), fmt.Sprint("w", i)))
			}
		}
		time.Sleep(5 * time.Second)
		for _, n := range c.Nodes() {
			for i := range 1000 {
				require.Len(t, receptionist.Find(n.System, key(i)).Reachable(), 5)
			}
		}
		newcomer := c.Add("n6")
		time.Sleep(5 * time.Second)
		require.Len(t, receptionist.Find(newcomer.System, key(999)).Reachable(), 5)
	})
}

func TestListingsAgreeAfterChaos(t *testing.T) {
	clustertest.Chaos{Nodes: 4, Faults: 6}.Run(t, func(r *clustertest.Round) {
		r.EachNode(func(n *cluster.Node) { hire(n, "w") })
		r.Finally("every node lists the worker of every node", func() error {
			time.Sleep(30 * time.Second)
			var want []string
			for _, n := range r.Nodes() {
				want = append(want, n.Address()+"/user/w")
			}
			slices.Sort(want)
			for _, n := range r.Nodes() {
				if got := listed(n); !slices.Equal(want, got) {
					return fmt.Errorf("%s lists %v", n.Address(), got)
				}
			}
			return nil
		})
	})
}
