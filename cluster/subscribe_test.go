package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// reader returns an actor that subscribes to n and sends each view to seen, then sleeps for slow.
func reader(n *Node, seen chan<- View, slow time.Duration) actor.Behavior[string] {
	return func(ctx *actor.Context[string], next *actor.Next[string]) {
		ctx.Defer(Subscribe(n, extension.Handle(ctx, func(v View) actor.Behavior[string] {
			seen <- v
			time.Sleep(slow)
			return nil
		})))
		next.OnMessage = func(*actor.Context[string], string) actor.Behavior[string] {
			return func(_ *actor.Context[string], next *actor.Next[string]) { next.Stop() }
		}
	}
}

func TestAnActorSeesTheCurrentViewFirstAndNeverMissesTheNewest(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		n1 := f.nodes["n1"]
		quick, slow := make(chan View, 100), make(chan View, 100)
		actor.Spawn(n1, reader(n1, quick, 0), "quick")
		actor.Spawn(n1, reader(n1, slow, 5*time.Second), "slow", actor.Bounded(1))
		synctest.Wait()
		require.Len(t, (<-quick).Members, 3, "at once")
		require.Len(t, (<-slow).Members, 3)

		for range 3 {
			require.NoError(t, f.nodes["n2"].Leave(t.Context()))
			f.start("n2")
		}
		f.await(time.Second, "n1", "n2", "n3")
		time.Sleep(time.Minute)
		newest := n1.View()
		require.Less(t, len(slow), len(quick))
		for name, seen := range map[string]chan View{"quick": quick, "slow": slow} {
			var last View
			for len(seen) > 0 {
				v := <-seen
				require.Greater(t, v.Version, last.Version, "%s sees each once", name)
				last = v
			}
			require.Equal(t, newest.Version, last.Version, name)
		}
	})
}

func TestASubscriptionEndsWithItsActorOrWithTheNode(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2")
		f.await(3*time.Second, "n1", "n2")
		n1, n2 := f.nodes["n1"], f.nodes["n2"]
		seen := make(chan View, 100)
		synctest.Wait()
		own := len(n1.views.listeners) // the listeners of the node itself
		other := actor.NewSystem("other")
		ref := actor.Spawn(other, reader(n1, seen, 0), "reader")
		actor.Spawn(other, reader(n2, seen, 0), "another")
		synctest.Wait()
		require.Len(t, seen, 2)
		ref.Tell("stop")
		synctest.Wait()
		require.Len(t, n1.views.listeners, own)
		require.Len(t, n2.views.listeners, own+1)

		require.NoError(t, n2.Leave(context.Background()))
		delete(f.nodes, "n2")
		synctest.Wait()
		var last View
		for len(seen) > 0 {
			last = <-seen
		}
		require.Equal(t, Removed, last.Self.Status, "the last view of a node that has ended")
		require.NoError(t, other.Shutdown(t.Context()))
		require.Len(t, n2.views.listeners, 1, "that of the node itself")
		require.Zero(t, other.DeadLetters())
	})
}

func TestASubscriptionIsCancelledOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1")
		n1, seen := f.nodes["n1"], make(chan View, 100)
		own := len(n1.views.listeners)
		ref := actor.Spawn(n1, func(_ *actor.Context[View], next *actor.Next[View]) {
			next.OnMessage = func(_ *actor.Context[View], v View) actor.Behavior[View] {
				seen <- v
				return nil
			}
		}, "reader")
		cancel := Subscribe(n1, ref)
		synctest.Wait()
		require.Len(t, seen, 1, "at once")
		cancel()
		cancel()
		require.Len(t, n1.views.listeners, own)
		f.start("n2")
		f.await(3*time.Second, "n1", "n2")
		require.Len(t, seen, 1)

		elsewhere := actor.Resolve[View](n1.System, "understudy://test@n2:7355/user/reader")
		require.PanicsWithValue(t, `actor: "understudy://test@n2:7355/user/reader" is no actor of this process and cannot follow what changes here; subscribe it on its own node`,
			func() { Subscribe(n1, elsewhere) })
	})
}
