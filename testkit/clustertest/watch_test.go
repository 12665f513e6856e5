//go:build !quick

package clustertest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A question is a message of asks to actors of other nodes, which never answer.
type watchQuestion struct{ ReplyTo actor.ActorRef[int] }

func init() { actor.RegisterType[watchQuestion]("clustertest_test.watch-question") }

// mute is an actor that does nothing.
func mute(n *cluster.Node, name string) actor.ActorRef[watchQuestion] {
	return actor.Spawn(n, func(_ *actor.Context[watchQuestion], next *actor.Next[watchQuestion]) {
		next.OnMessage = func(*actor.Context[watchQuestion], watchQuestion) actor.Behavior[watchQuestion] { return nil }
	}, name)
}

// watchFrom watches an actor of another node from an actor of n. The probe gets the paths of ended
// actors.
func watchFrom(t *testing.T, n *cluster.Node, path string) *testkit.Probe[string] {
	t.Helper()
	p := testkit.NewProbe[string](t, n.System)
	actor.Spawn(n, func(ctx *actor.Context[string], next *actor.Next[string]) {
		ctx.Watch(actor.Resolve[watchQuestion](n.System, path))
		next.OnMessage = func(*actor.Context[string], string) actor.Behavior[string] { return nil }
		next.OnSignal = func(_ *actor.Context[string], sig actor.Signal) actor.Behavior[string] {
			if end, ok := sig.(actor.Terminated); ok {
				p.Ref().Tell(end.Ref.Path())
			}
			return nil
		}
	}, "")
	return p
}

func TestAWatchedActorHasEndedWhenItsNodeIsRemovedNotWhenItIsUnreachable(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		target := mute(c.Node("n3"), "target")
		p := watchFrom(t, c.Node("n1"), target.String())
		time.Sleep(long(time.Minute))
		c.Crash("n3")
		p.ExpectNone(time.Second) // it is unreachable by now
		p.Expect(target.Path())
		whole(t, c, time.Minute, "n1", "n2")
		p.ExpectNone(long(5 * time.Minute))
	})
}

func TestAShortPartitionEndsNoWatch(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		target := mute(c.Node("n3"), "target")
		p := watchFrom(t, c.Node("n1"), target.String())
		time.Sleep(long(time.Minute))
		for range 5 {
			c.Partition([]string{"n3"})
			p.ExpectNone(2 * time.Second)
			c.Heal()
			p.ExpectNone(long(time.Minute))
		}
		require.True(t, c.Node("n1").View().Reachable(member(t, c.Node("n1").View(), "n3")))
		target.Tell(watchQuestion{})
		stopAll(t, c.Node("n3"))
		p.Expect(target.Path())
	})
}

func member(t *testing.T, v cluster.View, name string) cluster.Member {
	t.Helper()
	m, ok := v.Member(name)
	require.True(t, ok)
	return m
}

// stopAll ends all actors of a node, which remains a member.
func stopAll(t *testing.T, n *cluster.Node) {
	t.Helper()
	require.NoError(t, n.System.Shutdown(t.Context()))
}

func TestAWatchOnTheIncarnationBeforeARestartYieldsItsEnd(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		target := mute(c.Node("n3"), "target")
		byNumber := watchFrom(t, c.Node("n1"), target.String())
		byPath := watchFrom(t, c.Node("n2"), target.Path())
		time.Sleep(long(time.Minute))
		mute(c.Restart("n3"), "target")
		byNumber.Expect(target.Path())
		byPath.Expect(target.Path())
		byNumber.ExpectNone(long(5 * time.Minute))
		watchFrom(t, c.Node("n1"), target.Path()).ExpectNone(long(5 * time.Minute))
	})
}

func TestANodeThatLeavesEndsTheWatchesOnIt(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		target := mute(c.Node("n3"), "target")
		p := watchFrom(t, c.Node("n1"), target.String())
		time.Sleep(time.Second)
		c.Leave("n3")
		p.Expect(target.Path())
		again := watchFrom(t, c.Node("n1"), target.String())
		time.Sleep(10 * time.Second)
		again.Expect(target.Path())
	})
}

func TestWhoeverHasLeftLongAgoHasEndedAndAPathWhereNoMemberLivesWithinTenSeconds(t *testing.T) {
	scenario(t, 2, func(t *testing.T, c *clustertest.Cluster) {
		target := mute(c.Node("n2"), "target")
		c.Leave("n2")
		time.Sleep(long(5 * time.Minute))
		watchFrom(t, c.Node("n1"), target.String()).Expect(target.Path())
		begin := time.Now()
		p := watchFrom(t, c.Node("n1"), target.Path()) // of any actor that lives there
		p.ExpectNone(9 * time.Second)
		p.Expect(target.Path())
		require.LessOrEqual(t, time.Since(begin), 11*time.Second)
		nowhere := watchFrom(t, c.Node("n1"), "understudy://test@nowhere:1/user/x#5")
		nowhere.ExpectNone(9 * time.Second)
		nowhere.Expect("understudy://test@nowhere:1/user/x")
	})
}

func TestEachSideOfASplitHearsOfTheEndOfTheOther(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		there, here := mute(c.Node("n3"), "there"), mute(c.Node("n1"), "here")
		p := watchFrom(t, c.Node("n1"), there.String())
		q := watchFrom(t, c.Node("n3"), here.String())
		time.Sleep(long(time.Minute))
		c.Partition([]string{"n3"})
		time.Sleep(stableAfter)
		p.Expect(there.Path())
		q.ExpectNone(long(5 * time.Minute)) // n3 is in no cluster, and knows nothing of the others
		c.Heal()
		whole(t, c, time.Minute, "n1", "n2", "n3")
		q.ExpectNone(long(time.Minute)) // n1 has never been away
		again := watchFrom(t, c.Node("n1"), there.String())
		again.ExpectNone(long(5 * time.Minute)) // the actor has gone on, under a new incarnation
		require.NoError(t, c.Node("n3").System.Shutdown(t.Context()))
		again.Expect(there.Path())
		c.Leave("n1")
	})
}

func TestAnAskOfANodeThatIsRemovedEndsAtOnce(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		target := actor.Resolve[watchQuestion](c.Node("n1").System, mute(c.Node("n3"), "target").String())
		ended := make(chan error, 1)
		go func() {
			_, err := actor.Ask(context.Background(), target, func(to actor.ActorRef[int]) watchQuestion { return watchQuestion{to} })
			ended <- err
		}()
		time.Sleep(time.Second)
		c.Crash("n3")
		begin := time.Now()
		err := <-ended
		require.ErrorIs(t, err, actor.ErrUnreachable)
		require.NotErrorIs(t, err, actor.ErrTerminated)
		require.LessOrEqual(t, time.Since(begin), detection+stableAfter+2*time.Second)
	})
}

func TestAnAskOfAnotherNodeEndsWithTheNodeThatAsks(t *testing.T) {
	scenario(t, 2, func(t *testing.T, c *clustertest.Cluster) {
		asker := c.Node("n1").System
		target := actor.Resolve[watchQuestion](asker, mute(c.Node("n2"), "target").String())
		asked := func() error {
			_, err := actor.Ask(context.Background(), target, func(to actor.ActorRef[int]) watchQuestion { return watchQuestion{to} })
			return err
		}
		ended := make(chan error, 1)
		go func() { ended <- asked() }()
		time.Sleep(time.Second)
		c.Leave("n1")
		require.ErrorIs(t, <-ended, actor.ErrUnreachable)
		require.ErrorIs(t, asked(), actor.ErrUnreachable)
	})
}
