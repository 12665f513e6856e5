//go:build !quick

package clustertest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// The old version of a program calls the messages to its counter counterMsg, and the new one calls
// them command. Only the new version has registered its interface.
type (
	counterMsg interface{ toCounter() }
	command    interface{ toCounter() }
	increment  struct{ ReplyTo actor.ActorRef[int] }
)

func (increment) toCounter() {}

func init() {
	actor.RegisterType[increment]("counter.increment")
	actor.RegisterType[command]("clustertest_test.counterMsg")
}

// counting returns the counter of either version. It starts at n.
func counting[M any](n int) func() actor.Behavior[M] {
	return func() actor.Behavior[M] {
		total := n
		return behaviors.Receive(func(_ *actor.Context[M], m M) actor.Behavior[M] {
			if m, ok := any(m).(increment); ok {
				total++
				m.ReplyTo.Tell(total)
			}
			return behaviors.Same
		})
	}
}

func TestARollingUpgradeRenamesTheMessageInterfaceOfASingleton(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		n1, n2, n3 := c.Node("n1"), c.Node("n2"), c.Node("n3")
		actor.Spawn(n1, behaviors.Singleton(counting[counterMsg](100)), "counter")
		time.Sleep(time.Second)
		upgraded := actor.Spawn(n2, behaviors.Singleton(counting[command](200)), "counter")
		time.Sleep(time.Second)
		status, _ := singleton.StatusOf(n2.System, "counter")
		require.Empty(t, status.Mismatch)
		ask := func(ref actor.ActorRef[command]) int {
			n, err := actor.AskTimeout(t.Context(), ref, time.Minute, func(replyTo actor.ActorRef[int]) command { return increment{replyTo} })
			require.NoError(t, err)
			return n
		}
		require.Equal(t, 101, ask(upgraded))
		require.Equal(t, 102, ask(singleton.Ref[command](n3.System, "counter")))
		require.NoError(t, n1.Leave(t.Context()))
		require.Equal(t, 201, ask(upgraded))
		require.Equal(t, 202, ask(singleton.Ref[command](n3.System, "counter")))
	})
}

// A ref by name sends each message under the name of its own type. So it works with any name of the
// interface, on a node that has not spawned the singleton.
func TestARefByNameNeedsNoNameOfTheMessageInterface(t *testing.T) {
	type anyCommand interface{ toCounter() } // is not registered
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		actor.Spawn(c.Node("n1"), behaviors.Singleton(counting[counterMsg](100)), "counter")
		n, err := actor.AskTimeout(t.Context(), singleton.Ref[anyCommand](c.Node("n2").System, "counter"), time.Minute,
			func(replyTo actor.ActorRef[int]) anyCommand { return increment{replyTo} })
		require.NoError(t, err)
		require.Equal(t, 101, n)
	})
}

func TestARollingUpgradeRenamesTheMessageInterfaceOfAService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		n1, n2 := c.Node("n1"), c.Node("n2")
		actor.Spawn(n1, behaviors.Discoverable(receptionist.NewKey[counterMsg]("counters"), counting[counterMsg](100)()), "old")
		actor.Spawn(n2, behaviors.Discoverable(receptionist.NewKey[command]("counters"), counting[command](200)()), "new")
		time.Sleep(time.Second)
		l := receptionist.Find(n2.System, receptionist.NewKey[command]("counters"))
		require.NoError(t, l.Err)
		require.Len(t, l.All(), 2)
		probe := testkit.NewProbe[int](t, n2.System)
		for _, ref := range l.All() {
			ref.Tell(increment{probe.Ref()})
		}
		require.ElementsMatch(t, []int{101, 201}, []int{probe.Receive(), probe.Receive()})
	})
}
