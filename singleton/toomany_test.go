package singleton_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

func TestOneSingletonTooManyFailsAndTouchesNoOther(t *testing.T) {
	inCluster(t, []string{"a"}, func(t *testing.T, c *cluster) {
		s := c.nodes["a"].System
		singleton.SetMost(s, 2)
		failed := make(chan error, 1)
		parent := actor.Spawn(s, parentOfSingletons(failed), "parent")
		p := testkit.NewProbe[string](t, s)
		hello := func(name string) {
			actor.Resolve[msg](s, parent.Path()+"/"+name).Tell(msg{"hello", p.Ref()})
			p.Expect("1.1 hello")
		}
		for _, name := range []string{"one", "two", "three"} {
			parent.Tell(order{spawn: name})
			synctest.Wait()
		}
		require.ErrorIs(t, <-failed, singleton.ErrTooMany)
		hello("one")
		hello("two")
		parent.Tell(order{stop: "one"})
		synctest.Wait()
		parent.Tell(order{spawn: "four"})
		synctest.Wait()
		hello("four")
		require.Empty(t, failed)
	})
}

type order struct{ spawn, stop string }

// parentOfSingletons spawns and stops singletons that are its children, and sends the
// failures with which they end.
func parentOfSingletons(failed chan<- error, opts ...singleton.Option) actor.Behavior[order] {
	return func(_ *actor.Context[order], next *actor.Next[order]) {
		children := map[string]actor.AnyRef{}
		next.OnMessage = func(ctx *actor.Context[order], o order) actor.Behavior[order] {
			if o.stop != "" {
				ctx.Stop(children[o.stop])
				return nil
			}
			children[o.spawn] = actor.Spawn(ctx, behaviors.Singleton(mortal, opts...), o.spawn)
			ctx.Watch(children[o.spawn])
			return nil
		}
		next.OnSignal = func(_ *actor.Context[order], sig actor.Signal) actor.Behavior[order] {
			if end, ok := sig.(actor.ChildFailed); ok {
				failed <- end.Err
			}
			return nil
		}
	}
}
