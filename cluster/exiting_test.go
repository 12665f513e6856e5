package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/membership"
)

func ignore(*actor.Context[string], string) actor.Behavior[string] { return nil }

func TestWhatActorsSayAsTheirNodeLeavesReachesOtherNodes(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		heard := make(chan string, 1)
		listener := actor.Spawn(f.nodes["n1"], func(_ *actor.Context[string], next *actor.Next[string]) {
			next.OnMessage = func(_ *actor.Context[string], msg string) actor.Behavior[string] {
				heard <- msg
				return nil
			}
		}, "listener")
		n2 := f.nodes["n2"]
		abroad := actor.Resolve[string](n2.System, listener.String())
		statuses := make(chan Status, 2)
		actor.Spawn(n2, func(_ *actor.Context[string], next *actor.Next[string]) {
			next.OnMessage = ignore
			next.OnSignal = func(_ *actor.Context[string], sig actor.Signal) actor.Behavior[string] {
				if _, ends := sig.(actor.PostStop); ends {
					time.Sleep(time.Second) // a slow stop
					statuses <- n2.View().Self.Status
					m, _ := f.nodes["n1"].View().Member("n2")
					statuses <- m.Status
					abroad.Tell("farewell")
				}
				return nil
			}
		}, "talker")
		require.NoError(t, n2.Leave(t.Context()))
		delete(f.nodes, "n2")
		require.Equal(t, Exiting, <-statuses, "as it sees itself")
		require.Equal(t, Exiting, <-statuses, "as others see it")
		select {
		case msg := <-heard:
			require.Equal(t, "farewell", msg)
		case <-time.After(time.Minute):
			require.Fail(t, "nothing was heard")
		}
		f.await(time.Second, "n1", "n3")
	})
}

func TestANodeThatCrashesAsItsActorsStopIsNoCrash(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		n3 := f.nodes["n3"]
		hung := make(chan struct{})
		actor.Spawn(n3, func(ctx *actor.Context[string], next *actor.Next[string]) {
			next.OnMessage = ignore
			ctx.Defer(func() { <-hung })
		}, "slow")
		left := make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { left <- n3.Leave(ctx) }()
		time.Sleep(time.Second)
		require.Equal(t, Exiting, n3.View().Self.Status)
		f.net.Crash("n3")
		time.Sleep(1200 * time.Millisecond)
		f.await(0, "n1", "n2")
		require.Empty(t, membership.UncleanRemovals(f.nodes["n1"].View().in), "nothing of it needs to be waited for")
		cancel()
		require.ErrorIs(t, <-left, context.Canceled, "leaving ends with its context")
		close(hung)
		delete(f.nodes, "n3")
		_ = n3.Leave(t.Context()) // its sockets are gone
	})
}

func TestSingletonsMoveFromANodeBeforeItIsExiting(t *testing.T) {
	member := func(name string, s membership.Status) membership.Member {
		return membership.Member{Name: name, Address: name + ":1", Incarnation: 2, Status: s, UpNumber: 1}
	}
	with := func(s membership.Status) directory.Topology {
		self := member("n1", membership.Up)
		return topologyOf(viewOf(membership.NewView(1, self, true, []membership.Member{self, member("n2", s)}, nil)))
	}
	require.Len(t, with(membership.Leaving).Members, 2, "it may still run one, and must be asked")
	require.Equal(t, remote.NodeID{Address: "n2:1", Incarnation: 2}, with(membership.Leaving).Members[1].ID)
	require.Len(t, with(membership.Exiting).Members, 1, "singletons need not ask it")
}
