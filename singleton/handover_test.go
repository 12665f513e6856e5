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
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

var abc = []string{"a", "b", "c"}

func TestOneInstanceStartsAndEveryNodeReachesIt(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		for name, ref := range onAll(c, testkit.Counted(census, parrot)) {
			p := testkit.NewProbe[string](t, c.nodes[name].System)
			ref.Tell(msg{name, p.Ref()})
			p.Expect(name)
		}
		requireOne(t, census, "a")
	})
}

func TestAJoinerNeverStartsAnInstance(t *testing.T) {
	inCluster(t, []string{"b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, parrot))
		a := c.join("a")
		ref := actor.Spawn(a.System, behaviors.Singleton(testkit.Counted(census, parrot)), "one")
		p := testkit.NewProbe[string](t, a.System)
		ref.Tell(msg{"from a joiner", p.Ref()})
		p.Expect("from a joiner")
		c.up(a)
		time.Sleep(time.Hour)
		require.Equal(t, 1, census.Started())
		requireOne(t, census, "b")
	})
}

func TestANodeWithoutAViewStartsNothing(t *testing.T) {
	inCluster(t, nil, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		c.join("a")
		onAll(c, testkit.Counted(census, parrot))
		time.Sleep(time.Hour)
		require.Zero(t, census.Started())
		require.Equal(t, singleton.Pending, c.nodes["a"].status("one").Phase)
	})
}

func TestRoleDecidesWhoHostsAndEverybodyCanSend(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		c.change(func() { c.nodes["b"].peer.Roles = []string{"worker"} })
		census := testkit.NewCensus(t)
		refs := onAll(c, testkit.Counted(census, parrot), singleton.Role("worker"))
		p := testkit.NewProbe[string](t, c.nodes["a"].System)
		refs["a"].Tell(msg{"from an idler", p.Ref()})
		p.Expect("from an idler")
		requireOne(t, census, "b")
		c.leave("b")
		refs["a"].Tell(msg{"to nobody", p.Ref()})
		p.ExpectNone(time.Hour)
		d := c.join("d")
		c.change(func() { d.peer.Roles = []string{"worker"} })
		actor.Spawn(d.System, behaviors.Singleton(testkit.Counted(census, parrot), singleton.Role("worker")), "one")
		c.up(d)
		p.Expect("to nobody")
	})
}

func TestAHandOverEndsTheOldInstanceFirst(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, parrot))
		settle()
		began := time.Now()
		c.leave("a")
		time.Sleep(time.Hour)
		requireOne(t, census, "b")
		require.Equal(t, 2, census.Started())
		require.Less(t, census.Timeline()[2].Time.Sub(began), 5*time.Millisecond)
	})
}

func TestTheStopMessageComesLast(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		p := testkit.NewProbe[string](t, c.nodes["b"].System)
		factory := func() actor.Behavior[msg] {
			return behaviors.Receive(func(_ *actor.Context[msg], m msg) actor.Behavior[msg] {
				time.Sleep(10 * time.Millisecond)
				p.Ref().Tell(m.Text)
				if m.Text == "good bye" {
					return behaviors.Stopped
				}
				return behaviors.Same
			}).OnSignal(func(_ *actor.Context[msg], sig actor.Signal) actor.Behavior[msg] {
				if _, ended := sig.(actor.PostStop); ended {
					p.Ref().Tell("ended")
				}
				return behaviors.Same
			})
		}
		refs := onAll(c, factory, singleton.StopMessage(msg{Text: "good bye"}))
		settle()
		time.Sleep(time.Second)
		refs["b"].Tell(msg{Text: "1"})
		refs["b"].Tell(msg{Text: "2"})
		time.Sleep(5 * time.Millisecond)
		c.startLeaving("a")
		synctest.Wait()
		refs["b"].Tell(msg{Text: "3"})
		c.finishLeaving("a")
		for _, want := range []string{"1", "2", "good bye", "ended", "3"} {
			p.Expect(want)
		}
	})
}

func TestAnInstanceThatIgnoresTheStopMessageIsWaitedFor(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		stubborn := testkit.Counted(census, func() actor.Behavior[msg] {
			return behaviors.Receive(func(*actor.Context[msg], msg) actor.Behavior[msg] { return behaviors.Same })
		})
		onAll(c, stubborn, singleton.StopMessage(msg{Text: "please"}), singleton.StopTimeout(3*time.Second))
		settle()
		c.startLeaving("a")
		time.Sleep(2999 * time.Millisecond)
		requireOne(t, census, "a")
		time.Sleep(100 * time.Millisecond)
		requireOne(t, census, "b")
		c.finishLeaving("a")
	})
}

func TestAnInstanceThatCannotBeStoppedBlocksTheNext(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		release := make(chan struct{})
		stuck := testkit.Counted(census, func() actor.Behavior[msg] {
			return behaviors.Receive(func(*actor.Context[msg], msg) actor.Behavior[msg] {
				<-release
				return behaviors.Same
			})
		})
		refs := onAll(c, stuck)
		refs["a"].Tell(msg{})
		settle()
		c.startLeaving("a")
		ctx, cancel := context.WithTimeout(t.Context(), singleton.DefaultStopTimeout+margin)
		defer cancel()
		require.ErrorIs(t, singletons.Drain(ctx, c.nodes["a"].System), context.DeadlineExceeded)
		requireOne(t, census, "a")
		require.Equal(t, singleton.HandingOver, c.nodes["a"].status("one").Phase)
		require.Equal(t, []string{"a"}, c.nodes["b"].status("one").WaitingFor)
		time.Sleep(time.Second) // it is given up
		require.Equal(t, 2, census.Running())
		require.True(t, c.nodes["b"].status("one").Here)
		close(release)
		c.finishLeaving("a")
		require.Equal(t, 1, census.Running())
	})
}

func TestTheLastNodeStopsItsInstanceBeforeItLeaves(t *testing.T) {
	inCluster(t, []string{"a"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, parrot))
		settle()
		require.Equal(t, 1, census.Running())
		c.startLeaving("a")
		require.NoError(t, singletons.Drain(t.Context(), c.nodes["a"].System))
		require.Zero(t, census.Running())
	})
}

func TestWhenAllLeaveAtOnceTheSingletonDoesNotMove(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, parrot))
		settle()
		c.change(func() {
			for _, n := range c.members {
				n.peer.Up = false
			}
		})
		for _, name := range abc {
			c.finishLeaving(name)
		}
		require.Equal(t, 1, census.Started())
	})
}

func TestTwoLeaveAtOnce(t *testing.T) {
	inCluster(t, []string{"a", "b", "c", "d"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, parrot))
		settle()
		c.startLeaving("a")
		c.startLeaving("b")
		c.finishLeaving("b")
		c.finishLeaving("a")
		time.Sleep(time.Second)
		requireOne(t, census, "c")
		require.Equal(t, 2, census.Started())
	})
}

func TestARequestThatIsLostIsSentAgain(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, parrot))
		time.Sleep(time.Second)
		c.net.losing(cut("b"))
		c.startLeaving("a")
		time.Sleep(90 * time.Millisecond)
		requireOne(t, census, "a")
		c.net.losing(nil)
		time.Sleep(20 * time.Millisecond)
		requireOne(t, census, "b")
		c.finishLeaving("a")
	})
}

func TestTheNextHostRestartsDuringTheHandOver(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		slow := testkit.Counted(census, func() actor.Behavior[msg] {
			return behaviors.Receive(func(*actor.Context[msg], msg) actor.Behavior[msg] {
				time.Sleep(2 * time.Second)
				return behaviors.Same
			})
		})
		refs := onAll(c, slow)
		refs["a"].Tell(msg{})
		settle()
		c.startLeaving("a")
		time.Sleep(time.Second)
		c.crash("b")
		c.removed(c.nodes["b"])
		b2 := c.join("b")
		actor.Spawn(b2.System, behaviors.Singleton(slow), "one")
		c.up(b2)
		c.finishLeaving("a")
		time.Sleep(time.Second)
		requireOne(t, census, "c")
		require.Equal(t, 2, census.Started())
	})
}

func TestAnInstanceIsAskedForOnlyByWhoSharesTheView(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, parrot))
		settle()
		a, b := c.nodes["a"], c.nodes["b"]
		c.showTo(b, b, a) // b believes that it is the first
		time.Sleep(time.Minute)
		requireOne(t, census, "a")
		require.Equal(t, singleton.Asking, b.status("one").Phase)
		c.change(func() { c.members = []*node{b, a} })
		time.Sleep(2 * time.Second)
		requireOne(t, census, "b")
	})
}
