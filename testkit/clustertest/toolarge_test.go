//go:build !quick

package clustertest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

type bulky struct {
	Text    string
	ReplyTo actor.ActorRef[int]
}

func init() { actor.RegisterType[bulky]("clustertest.bulky") }

func weighs() actor.Behavior[bulky] {
	return behaviors.Receive(func(_ *actor.Context[bulky], msg bulky) actor.Behavior[bulky] {
		msg.ReplyTo.Tell(len(msg.Text))
		return behaviors.Same
	})
}

// A message that is too large for the network is refused at once, and later messages continue,
// however the singleton delivers. Each message around the limit is handled or refused.
func TestASingletonRefusesWhatTheNetworkDoesNotCarry(t *testing.T) {
	const limit = 4 << 20
	for name, opts := range map[string][]singleton.Option{"at most once": nil, "at least once": {singleton.AtLeastOnce(10)}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clustertest.Start(t, 2)
				actor.Spawn(c.Node("n1"), behaviors.Singleton(weighs, opts...), "scales")
				ref := actor.Spawn(c.Node("n2"), behaviors.Singleton(weighs, opts...), "scales")
				c.AwaitQuiet()
				for _, size := range []int{1, limit + 1, 2, limit - 2048, limit - 512, limit - 256, limit - 128, limit - 64, limit, 3} {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					weight, err := actor.Ask(ctx, ref, func(to actor.ActorRef[int]) bulky { return bulky{strings.Repeat("x", size), to} })
					cancel()
					switch {
					case size > limit-1024 && err != nil:
						require.ErrorIs(t, err, remote.ErrTooLarge, size)
					default:
						require.NoError(t, err, size)
						require.Equal(t, size, weight)
					}
				}
			})
		})
	}
}

// Names may be long. All registrations of a receptionist arrive, in any number of messages, on
// existing nodes and on new ones.
func TestReceptionistsExchangeManyLongPaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		key := receptionist.NewKey[string]("long")
		const instances = 2200 // with paths of 3 KB: more than 4 MiB
		long := strings.Repeat("x", 1000)
		parent := behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
			for i := range instances {
				ref := actor.Spawn(ctx, behaviors.Ignore[string], fmt.Sprintf("%d-%s", i, long))
				receptionist.Register(c.Node("n1").System, key, ref)
			}
			return behaviors.Ignore[string]
		})
		actor.Spawn(c.Node("n1"), behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
			actor.Spawn(ctx, parent, long)
			return behaviors.Ignore[string]
		}), long)
		c.Add("n3")
		time.Sleep(time.Minute)
		small := receptionist.NewKey[string]("small")
		receptionist.Register(c.Node("n1").System, small, actor.Spawn(c.Node("n1"), behaviors.Ignore[string], "small"))
		time.Sleep(time.Minute)
		for _, name := range []string{"n2", "n3"} {
			require.Len(t, receptionist.Find(c.Node(name).System, key).Instances, instances, name)
			require.Len(t, receptionist.Find(c.Node(name).System, small).Instances, 1, name)
		}
	})
}
