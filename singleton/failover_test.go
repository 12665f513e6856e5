package singleton_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/singletons"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

func TestAHostThatIsGoneWithoutASignIsReplacedAfterTheMargin(t *testing.T) {
	inCluster(t, []string{"a", "b", "c", "d", "e"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, parrot))
		settle()
		c.crash("a")
		time.Sleep(time.Minute)
		require.Zero(t, census.Running(), "nobody hosts before the former host is removed")
		c.downed(c.nodes["a"])
		time.Sleep(margin - 100*time.Millisecond)
		require.Zero(t, census.Running())
		status := c.nodes["b"].status("one")
		require.Equal(t, singleton.Asking, status.Phase)
		require.Equal(t, 100*time.Millisecond, time.Until(status.NotBefore))
		time.Sleep(200 * time.Millisecond)
		requireOne(t, census, "b")
	})
}

func TestAHostThatIsKnownToHaveEndedIsReplacedAtOnce(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, parrot))
		settle()
		c.crash("a")
		c.removed(c.nodes["a"])
		settle()
		requireOne(t, census, "b")
	})
}

func TestAnInstanceThatFencesItsWritesNeedsNoMargin(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, fencing))
		settle()
		c.crash("a")
		c.downed(c.nodes["a"])
		settle()
		requireOne(t, census, "b")
	})
}

// fencing marks itself as fenced, as event-sourced behaviors do, and is fenced off when
// it is told.
func fencing() actor.Behavior[msg] {
	return behaviors.Setup(func(ctx *actor.Context[msg]) actor.Behavior[msg] {
		tenure.Of(ctx).Fenced()
		return behaviors.Receive(func(ctx *actor.Context[msg], _ msg) actor.Behavior[msg] { return ctx.Fail(tenure.ErrFenced) })
	})
}

func TestAnInstanceThatIsFencedOffAsksAgainForATerm(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		refs := onAll(c, testkit.Counted(census, fencing))
		settle()
		before := c.nodes["a"].status("one").Generation
		refs["a"].Tell(msg{})
		time.Sleep(time.Second)
		require.Greater(t, c.nodes["a"].status("one").Generation.Term, before.Term)
		requireOne(t, census, "a")
	})
}

func TestTheTwoFirstCrashAtOnce(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, parrot))
		settle()
		c.crash("a")
		c.crash("b")
		c.downed(c.nodes["b"])
		c.downed(c.nodes["a"])
		time.Sleep(margin + time.Second)
		requireOne(t, census, "c")
	})
}

func TestMessagesToldAfterTheSuspicionAreDeliveredAfterTheFailover(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		book := newLedger()
		refs := onAll(c, book.keep(0))
		settle()
		c.crash("a")
		c.reachable(c.nodes["a"], false)
		settle()
		for n := range 100 {
			refs["c"].Tell(numbered{"c", n + 1})
			time.Sleep(50 * time.Millisecond)
		}
		c.downed(c.nodes["a"])
		time.Sleep(margin + time.Second)
		book.requireAll(t, 100, "c")
	})
}

func TestACutThatHealsBeforeAnybodyIsDownMovesNothing(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, parrot))
		settle()
		c.net.losing(cut("b"))
		c.reachable(c.nodes["a"], false)
		time.Sleep(time.Hour)
		c.reachable(c.nodes["a"], true)
		c.net.losing(nil)
		time.Sleep(time.Hour)
		require.Equal(t, 1, census.Started())
		requireOne(t, census, "a")
	})
}

func TestANodeThatIsDownStopsItsInstanceAndReturnsAsAnother(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		refs := onAll(c, testkit.Counted(census, parrot))
		settle()
		a, b, d := c.nodes["a"], c.nodes["b"], c.nodes["c"]
		c.net.losing(func(l link, _ any) bool { return l.from == "a" || l.to == "a" })
		c.downed(a)
		c.showTo(a, b, d) // a learns that it is down
		require.NoError(t, singletons.Drain(t.Context(), a.System))
		require.Zero(t, census.Running())
		time.Sleep(margin + time.Second)
		requireOne(t, census, "b")
		c.net.losing(nil)
		c.change(func() {
			a.peer.ID.Incarnation++
			c.members = append(c.members, a)
		})
		p := testkit.NewProbe[string](t, a.System)
		refs["a"].Tell(msg{"hello again", p.Ref()})
		p.Expect("hello again")
		c.leave("b")
		c.leave("c")
		requireOne(t, census, "a")
	})
}

func TestGenerationsOnlyGrow(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		var last singleton.Generation
		factory := func() actor.Behavior[msg] {
			return behaviors.Setup(func(ctx *actor.Context[msg]) actor.Behavior[msg] {
				gen := singleton.GenerationOf(ctx)
				require.True(t, last.Less(gen), "%v after %v", gen, last)
				last = gen
				return behaviors.Receive(func(*actor.Context[msg], msg) actor.Behavior[msg] { return behaviors.Stopped })
			})
		}
		refs := onAll(c, factory)
		for range 5 {
			refs["c"].Tell(msg{Text: "stop"})
			time.Sleep(10 * time.Second)
		}
		c.leave("a")
		c.crash("b")
		c.downed(c.nodes["b"])
		time.Sleep(time.Minute)
		a := c.join("a")
		actor.Spawn(a.System, behaviors.Singleton(factory), "one")
		c.up(a)
		settle() // a member is up when all know it
		c.leave("c")
		synctest.Wait()
		require.GreaterOrEqual(t, last.Term, uint64(4))
		require.Equal(t, last, a.status("one").Generation)
	})
}

// A host that dies before anybody has heard of its term does not let the next one use
// the same.
func TestATermIsUsedOnceEvenIfItsHostDiesAtOnce(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		c.net.losing(func(l link, msg any) bool { return l.from == "a" && singleton.IsNews(msg) })
		onAll(c, parrot)
		settle()
		first := c.nodes["a"].status("one").Generation
		require.Zero(t, c.nodes["b"].record())
		c.crash("a")
		c.removed(c.nodes["a"])
		settle()
		require.Greater(t, c.nodes["b"].status("one").Generation.Term, first.Term)
	})
}

func TestDrainWaitsForTheInstanceAndGivesUpWithItsContext(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, parrot))
		settle()
		c.net.losing(cut("b"))
		c.startLeaving("a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, singletons.Drain(ctx, c.nodes["a"].System), context.DeadlineExceeded)
		c.net.losing(nil)
		require.NoError(t, singletons.Drain(t.Context(), c.nodes["a"].System))
		settle()
		requireOne(t, census, "b")
		require.NoError(t, singletons.Drain(t.Context(), c.nodes["a"].System), "once more")
	})
}

func TestDrainDoesNotWaitForAManagerThatEnds(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		a := c.nodes["a"]
		_, stop := spawnBelow(a.System, behaviors.Singleton(parrot))
		spawnBelow(c.nodes["b"].System, behaviors.Singleton(parrot))
		settle()
		c.net.losing(cut("b"))
		c.startLeaving("a")
		drained := make(chan error)
		go func() { drained <- singletons.Drain(t.Context(), a.System) }()
		settle()
		stop()
		require.NoError(t, <-drained)
	})
}

func TestNothingStartsOnANodeThatHasBeenDrained(t *testing.T) {
	inCluster(t, []string{"a"}, func(t *testing.T, c *cluster) {
		a := c.nodes["a"]
		settle()
		require.NoError(t, singletons.Drain(t.Context(), a.System))
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, parrot))
		time.Sleep(time.Hour)
		require.Zero(t, census.Started())
	})
}

func TestDrainWithoutAClusterOrAfterItsEndReturns(t *testing.T) {
	inCluster(t, []string{"a"}, func(t *testing.T, c *cluster) {
		require.NoError(t, singletons.Drain(t.Context(), testkit.NewSystem(t, testkit.WithoutEncoding())))
		require.NoError(t, c.nodes["a"].Shutdown(t.Context()))
		require.NoError(t, singletons.Drain(t.Context(), c.nodes["a"].System))
	})
}

func TestManySingletonsMoveAtOnce(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		const many = 100
		census := testkit.NewCensus(t)
		for _, n := range c.members {
			for i := range many {
				actor.Spawn(n.System, behaviors.Singleton(testkit.Counted(census, parrot)), string(rune('A'+i%26))+string(rune('a'+i/26)))
			}
		}
		time.Sleep(time.Second)
		require.Equal(t, many, census.Running())
		began := time.Now()
		c.leave("a")
		timeline := census.Timeline()
		require.Equal(t, many, census.Running())
		require.Equal(t, many, census.Peak())
		require.Less(t, timeline[len(timeline)-1].Time.Sub(began), 10*time.Millisecond)
	})
}
