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

// b has not heard that a, which comes first, has a manager. If b were permitted to host, the
// instance would move to a at once, and lose its state.
func TestNothingStartsWhereItWouldHaveToLeaveAtOnce(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		book, census := newLedger(), testkit.NewCensus(t)
		settle()
		c.net.losing(func(l link, msg any) bool { return l.from == "a" })
		refs := onAll(c, testkit.Counted(census, book.keep(0)))
		refs["a"].Tell(numbered{"a", 1})
		refs["b"].Tell(numbered{"b", 1})
		time.Sleep(time.Hour)
		require.Zero(t, census.Started())
		require.Equal(t, singleton.Asking, c.nodes["b"].status("one").Phase)
		c.net.losing(nil)
		time.Sleep(3 * time.Second)
		requireOne(t, census, "a")
		require.Equal(t, 1, census.Started())
		book.requireAll(t, 1, "a", "b")
	})
}

// A node that asks for permission has a manager, whether or not others have heard of it.
func TestWhoAsksForPermissionHasAManager(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		book, census := newLedger(), testkit.NewCensus(t)
		settle()
		c.net.losing(func(l link, msg any) bool { return l.from == "a" && singleton.IsExchange(msg) })
		refs := onAll(c, testkit.Counted(census, book.keep(0)))
		refs["b"].Tell(numbered{"b", 1})
		time.Sleep(time.Second)
		requireOne(t, census, "a")
		require.Equal(t, 1, census.Started())
		book.requireAll(t, 1, "b")
		require.Equal(t, singleton.Standby, c.nodes["b"].status("one").Phase)
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
		singleton.Withdraw(a.System, "parent/one")
		stop()
		settle()
		spawnBelow(c.nodes["b"].System, one)
		settle()
		requireOne(t, census, "b")
	})
}
