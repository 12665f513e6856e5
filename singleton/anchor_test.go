package singleton_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

// The node that a singleton is bound to fails. No other node takes over, messages wait, and the
// generation stays. The node returns, and the singleton starts there with a higher term.
func TestASingletonBoundToANodeWaitsForIt(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		refs := onAll(c, testkit.Counted(census, mortal), singleton.OnNode("b"))
		settle()
		requireOne(t, census, "b")
		before := c.nodes["b"].status("one").Generation
		require.Equal(t, `the node "b"`, c.nodes["a"].status("one").Placement)

		c.crash("b")
		c.downed(c.nodes["b"])
		settle()
		p := testkit.NewProbe[string](t, c.nodes["a"].System)
		refs["a"].Tell(msg{"patience", p.Ref()})
		p.ExpectNone(time.Hour)
		require.Zero(t, census.Running())
		require.Equal(t, singleton.Pending, c.nodes["a"].status("one").Phase)
		require.Equal(t, 1, c.nodes["a"].status("one").Held)
		require.Equal(t, before.Term, c.nodes["a"].record().Term)

		b := c.join("b")
		c.up(b)
		c.change(func() { c.gone = nil })
		actor.Spawn(b.System, behaviors.Singleton(testkit.Counted(census, mortal), singleton.OnNode("b")), "one")
		require.Contains(t, p.Receive(), " patience")
		requireOne(t, census, "b")
		require.Greater(t, b.status("one").Generation.Term, before.Term)
	})
}

// A singleton that is bound to its present node does not move when others join or leave.
func TestASingletonBoundToANodeStaysWhenOthersComeAndGo(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, parrot), singleton.OnNode("c"))
		settle()
		before := c.nodes["c"].status("one").Generation
		c.up(c.join("d"))
		c.leave("a")
		settle()
		requireOne(t, census, "c")
		require.Equal(t, 1, census.Started())
		require.Equal(t, before, c.nodes["c"].status("one").Generation)
	})
}

func TestTheOldestHostsWhateverTheOrderOfElection(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, parrot), singleton.OnOldest())
		settle()
		requireOne(t, census, "a")
		z := c.join("z")
		c.change(func() { c.members = []*node{z, c.nodes["b"], c.nodes["a"]} }) // elected by something else
		c.up(z)
		actor.Spawn(z.System, behaviors.Singleton(testkit.Counted(census, parrot), singleton.OnOldest()), "one")
		settle()
		requireOne(t, census, "a")
		require.Equal(t, 1, census.Started())
		c.leave("a")
		settle()
		requireOne(t, census, "b")
	})
}

// A manager that stops by itself withdraws its advertisement: the singleton moves, messages reach
// it, and the manager may be spawned again.
func TestAManagerThatStopsAloneGivesTheSingletonAway(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		spawn := func(name string) (actor.ActorRef[msg], func()) {
			return stoppable(c.nodes[name], behaviors.Singleton(testkit.Counted(census, mortal)))
		}
		_, stopA := spawn("a")
		refB, _ := spawn("b")
		refC, _ := spawn("c")
		settle()
		requireOne(t, census, "a")
		before := c.nodes["a"].status("one").Generation

		stopA()
		p := testkit.NewProbe[string](t, c.nodes["c"].System)
		refC.Tell(msg{"in between", p.Ref()})
		require.Contains(t, p.Receive(), " in between")
		requireOne(t, census, "b")
		require.True(t, before.Less(c.nodes["b"].status("one").Generation))
		_, known := singleton.StatusOf(c.nodes["a"].System, "one")
		require.False(t, known)

		_, stopAgain := spawn("a")
		settle()
		requireOne(t, census, "a")
		refB.Tell(msg{"back", p.Ref()})
		require.Contains(t, p.Receive(), " back")
		stopAgain()
		settle()
		requireOne(t, census, "b")
	})
}

// stoppable spawns b as "one" on n, and returns a function that stops it.
func stoppable(n *node, b actor.Behavior[msg]) (ref actor.ActorRef[msg], stop func()) {
	ctx, stop := context.WithCancel(n.cluster.t.Context())
	return actor.Spawn(n.System, b, "one", extension.WithContext(ctx)), stop
}

// A message for a node without a manager goes back, and waits there for a newer view.
func TestAMessageForANodeWithoutAManagerGoesBack(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		ref := actor.Spawn(c.nodes["b"].System, behaviors.Singleton(parrot), "one")
		singleton.Advertise(c.nodes["a"].System, "one")
		settle()
		p := testkit.NewProbe[string](t, c.nodes["b"].System)
		ref.Tell(msg{"1", p.Ref()})
		ref.Tell(msg{"2", p.Ref()})
		p.ExpectNone(effort.Of(time.Minute, time.Hour, time.Hour))
		require.Equal(t, 2, c.nodes["b"].status("one").Held)
		c.nodes["a"].deadLetters.ExpectNone(time.Second)
		singleton.Withdraw(c.nodes["a"].System, "one")
		p.Expect("1")
		p.Expect("2")
	})
}

// A term that a manager has promised to another node is not forgotten with the manager.
func TestANodeWhoseManagerHasStoppedStillKnowsItsTerms(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		settle()
		c.net.losing(func(l link, msg any) bool { return l.from == "c" && singleton.IsExchange(msg) }) // nobody hears of the term
		_, stopC := stoppable(c.nodes["c"], behaviors.Singleton(testkit.Counted(census, parrot)))
		settle()
		requireOne(t, census, "c")
		before := c.nodes["c"].status("one").Generation
		require.Zero(t, c.nodes["a"].record())
		stopC()
		actor.Spawn(c.nodes["a"].System, behaviors.Singleton(testkit.Counted(census, parrot)), "one")
		settle()
		requireOne(t, census, "a")
		require.True(t, before.Less(c.nodes["a"].status("one").Generation))
	})
}
