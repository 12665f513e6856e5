package singleton_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

// Akka: the proxy "will route all messages to the current instance of the singleton", also on a
// node that does not run its manager.
func TestANodeThatHasNotSpawnedASingletonReachesItByName(t *testing.T) {
	inCluster(t, []string{"a", "b", "c"}, func(t *testing.T, c *cluster) {
		for _, name := range []string{"a", "b"} {
			actor.Spawn(c.nodes[name].System, behaviors.Singleton(mortal), "GlobalCounter")
		}
		settle()
		s := c.nodes["c"].System
		p := testkit.NewProbe[string](t, s)
		proxy := singleton.Ref[msg](s, "GlobalCounter")
		require.Equal(t, proxy, singleton.Ref[msg](s, "GlobalCounter"))
		proxy.Tell(msg{"counted", p.Ref()})
		p.Expect("1.1 counted")
		c.leave("a")
		settle()
		proxy.Tell(msg{"on b", p.Ref()})
		p.Expect("2.1 on b")
		require.Panics(t, func() { singleton.Ref[int](s, "GlobalCounter") })
		require.Panics(t, func() { singleton.Ref[msg](s, "no//name") })
	})
}

func TestMessagesToASingletonThatNoNodeHasSpawnedWaitForOne(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		s := c.nodes["b"].System
		p := testkit.NewProbe[string](t, s)
		proxy := singleton.Ref[msg](s, "one")
		proxy.Tell(msg{"early", p.Ref()})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := actor.Ask(ctx, proxy, func(replyTo actor.ActorRef[string]) msg { return msg{"asked", replyTo} })
		require.ErrorIs(t, err, singleton.ErrUnavailable)
		require.ErrorContains(t, err, "no member that can be reached has a manager of one")
		actor.Spawn(c.nodes["a"].System, behaviors.Singleton(mortal), "one")
		p.Expect("1.1 early")
		proxy.Tell(msg{"later", p.Ref()})
		p.Expect("1.1 later")
	})
}

func TestTheRefOfASingletonOnItsOwnNodeIsThatOfSpawn(t *testing.T) {
	inCluster(t, []string{"a"}, func(t *testing.T, c *cluster) {
		s := c.nodes["a"].System
		p := testkit.NewProbe[string](t, s)
		before := singleton.Ref[msg](s, "one")
		before.Tell(msg{"waits", p.Ref()})
		spawned := actor.Spawn(s, behaviors.Singleton(mortal), "one")
		require.Equal(t, spawned, singleton.Ref[msg](s, "one"))
		p.Expect("1.1 waits")
		require.PanicsWithValue(t, `singleton: "one" takes singleton_test.msg on this node, and not int`, func() { singleton.Ref[int](s, "one") })
	})
}

func TestWithoutAClusterARefLeadsToTheSingletonOfTheSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		p := testkit.NewProbe[string](t, s)
		before := singleton.Ref[msg](s, "one")
		spawned := actor.Spawn(s, behaviors.Singleton(mortal), "one")
		require.Equal(t, spawned, singleton.Ref[msg](s, "one"))
		before.Tell(msg{"hello", p.Ref()})
		p.Expect("1.1 hello")
	})
}
