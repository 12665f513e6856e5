package singleton_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

// Nobody is left to take over, and still the instance is asked to stop.
func TestTheInstanceOfTheLastNodeGetsItsStopMessageAndPostStop(t *testing.T) {
	inCluster(t, []string{"a"}, func(t *testing.T, c *cluster) {
		var heard []string
		onAll(c, func() actor.Behavior[msg] {
			return behaviors.Receive(func(_ *actor.Context[msg], m msg) actor.Behavior[msg] {
				heard = append(heard, m.Text)
				return behaviors.Stopped
			}).OnSignal(func(_ *actor.Context[msg], sig actor.Signal) actor.Behavior[msg] {
				heard = append(heard, fmt.Sprintf("%T", sig))
				return behaviors.Same
			})
		}, singleton.StopMessage(msg{Text: "good bye"}))
		settle()
		c.leave("a")
		require.Equal(t, []string{"good bye", "actor.PostStop"}, heard)
	})
}

// Of a hundred singletons whose host is known to have ended, none waits for as long as a retry
// takes.
func TestWithoutAPredecessorNobodyWaitsForARetry(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		for _, n := range c.members {
			for i := range 100 {
				actor.Spawn(n.System, behaviors.Singleton(testkit.Counted(census, parrot)), fmt.Sprintf("one-%d", i))
			}
		}
		time.Sleep(10 * time.Second)
		require.Equal(t, 100, census.Running())
		c.crash("a")
		c.removed(c.nodes["a"])
		time.Sleep(50 * time.Millisecond)
		require.Equal(t, 100, census.Running(), "a retry takes 100 ms at least")
		require.Equal(t, 100, census.Peak())
	})
}

// The manager of the host is stopped and spawned again, on the same node. Meanwhile the next node
// hosts; then the instance comes back, as that node is the first in the order again. Every ref
// leads to it.
func TestAManagerThatIsSpawnedAgainIsFoundAgain(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		one := behaviors.Singleton(testkit.Counted(census, parrot))
		refs, stops := map[string]actor.ActorRef[msg]{}, map[string]func(){}
		manage := func(name string) { refs[name], stops[name] = spawnBelow(c.nodes[name].System, one) }
		for _, name := range abc {
			manage(name)
		}
		settle()
		requireOne(t, census, "a")
		stops["a"]()
		settle()
		requireOne(t, census, "b")
		require.NoError(t, asked(t, refs["c"]))
		manage("a")
		settle()
		for name, ref := range refs {
			require.NoError(t, asked(t, ref), name)
		}
		requireOne(t, census, "a")
		require.Equal(t, 3, census.Started())
	})
}

// Of 1001 messages that wait the first gives way, not the last, so that what arrives is the newest.
// The others keep their order.
func TestOfAThousandAndOneThatWaitTheFirstGivesWay(t *testing.T) {
	inCluster(t, nil, func(t *testing.T, c *cluster) {
		a, book := c.join("a"), newLedger()
		ref := onAll(c, book.keep(0))["a"]
		for n := range singleton.DefaultBuffer + 1 {
			ref.Tell(numbered{"a", n})
		}
		require.Equal(t, numbered{"a", 0}, a.deadLetters.Receive().Message)
		c.up(a)
		settle()
		book.requireAll(t, singleton.DefaultBuffer, "a")
		require.EqualValues(t, 1, a.DeadLetters())
	})
}
