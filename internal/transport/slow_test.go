package transport_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/memnet"
)

// spawnSlow starts an actor whose mailbox blocks for patience. It handles nothing until release
// is called, and collects then.
func spawnSlow(x *testNode, patience time.Duration) (got *collector[int], release func()) {
	wait := make(chan struct{})
	got = &collector[int]{}
	actor.Spawn(x.sys, receive(func(n int) {
		<-wait
		got.add(n)
	}), "slow", actor.Bounded(1).Block(patience))
	return got, func() { close(wait) }
}

func TestAnActorWhoseMailboxBlocksKeepsNobodyElseOfAPeerWaiting(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		spawnAdder(b.sys)
		got, release := spawnSlow(b, time.Minute)
		slow, adder := ref[int](a, b, "/user/slow"), ref[question](a, b, "/user/adder")
		for i := range 1000 {
			slow.Tell(i)
			if i%100 == 0 {
				begin := time.Now()
				require.Equal(t, i+1, ask(t, adder, i))
				require.Less(t, time.Since(begin), time.Second)
			}
		}
		time.Sleep(40 * time.Second)
		begin := time.Now()
		require.Equal(t, 8, ask(t, adder, 7))
		require.Less(t, time.Since(begin), time.Second)
		release()
		soon()
		require.Equal(t, count(1000), got.got())
		require.Empty(t, append(a.lost.got(), b.lost.got()...))
	})
}

func TestWhatAnActorWhoseMailboxBlocksHasNoTimeForIsADeadLetterOfItsNode(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		got, release := spawnSlow(b, time.Minute)
		for i := range 10 {
			ref[int](a, b, "/user/slow").Tell(i)
		}
		time.Sleep(time.Minute - time.Second)
		require.Empty(t, b.lost.got())
		time.Sleep(2 * time.Second)
		release()
		soon()
		require.Equal(t, count(2), got.got())
		lost := b.lost.got()
		require.Len(t, lost, 8)
		for i, dead := range lost {
			require.Equal(t, i+2, dead.Message)
			require.ErrorIs(t, dead.Reason, actor.ErrMailboxFull)
		}
		require.Empty(t, a.lost.got())
	})
}

func TestWhatHasArrivedForAnActorWhoseMailboxBlocksIsHandledWhenItsSenderIsGone(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		got, release := spawnSlow(b, time.Minute)
		for i := range 100 {
			ref[int](a, b, "/user/slow").Tell(i)
		}
		soon()
		n.Crash("a")
		b.Forget(a.Self())
		soon()
		release()
		soon()
		require.Equal(t, count(100), got.got())
	})
}

func TestAnEndpointClosesAtOnceWhileAnActorWhoseMailboxBlocksIsFull(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		_, release := spawnSlow(b, time.Hour)
		t.Cleanup(release)
		for i := range 100 {
			ref[int](a, b, "/user/slow").Tell(i)
		}
		soon()
		begin := time.Now()
		require.NoError(t, b.Close())
		require.Less(t, time.Since(begin), time.Second)
	})
}
