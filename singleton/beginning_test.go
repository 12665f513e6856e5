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

// b asks for permission before the cluster has heard that a, which comes first, has a
// manager. Were it given, the instance would move to a at once, and forget what it knows.
func TestNothingStartsWhereItWouldHaveToLeaveAtOnce(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		book, census := newLedger(), testkit.NewCensus(t)
		a, b := c.nodes["a"], c.nodes["b"]
		a.silent = true
		refs := onAll(c, testkit.Counted(census, book.keep(0)))
		refs["a"].Tell(numbered{"a", 1})
		refs["b"].Tell(numbered{"b", 1})
		time.Sleep(time.Hour)
		require.Zero(t, census.Started())
		require.Equal(t, singleton.Asking, b.status("one").Phase)
		c.change(func() { a.peer.Offers = []string{"one"} })
		time.Sleep(time.Second)
		requireOne(t, census, "a")
		require.Equal(t, 1, census.Started())
		book.requireAll(t, 1, "a", "b")
	})
}

// The goroutine of the manager of a comes late, but Spawn has returned there.
func TestAManagerCountsFromWhenSpawnReturns(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		one := behaviors.Singleton(testkit.Counted(census, parrot))
		actor.Spawn(c.nodes["a"].System, func(ctx *actor.Context[msg], next *actor.Next[msg]) {
			time.Sleep(time.Hour)
			one(ctx, next)
		}, "one")
		actor.Spawn(c.nodes["b"].System, one, "one")
		time.Sleep(time.Hour - time.Second)
		require.Zero(t, census.Started())
		time.Sleep(2 * time.Second)
		requireOne(t, census, "a")
		require.Equal(t, 1, census.Started())
	})
}

func TestAnotherActorOfTheSameNameKeepsNobodyFromHosting(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		actor.Spawn(c.nodes["a"].System, behaviors.Ignore[msg], "one")
		settle()
		actor.Spawn(c.nodes["b"].System, behaviors.Singleton(testkit.Counted(census, parrot)), "one")
		settle()
		requireOne(t, census, "b")
	})
}

func TestAManagerThatHasEndedKeepsNobodyFromHosting(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		a := c.nodes["a"]
		one := behaviors.Singleton(testkit.Counted(census, parrot))
		_, stop := spawnBelow(a.System, one)
		settle()
		requireOne(t, census, "a")
		c.change(func() { a.peer.Offers = nil })
		stop()
		settle()
		spawnBelow(c.nodes["b"].System, one)
		settle()
		requireOne(t, census, "b")
	})
}
