package transport_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

func small(cfg *transport.Config) { cfg.OutboxSize = 100 }

// spawnFlood spawns an actor that tells n numbers without pause when it is told n.
func spawnFlood(x *testNode, to actor.ActorRef[int], name string, done func()) actor.ActorRef[int] {
	return actor.Spawn(x.sys, receive(func(n int) {
		for i := range n {
			to.Tell(i)
		}
		done()
	}), name)
}

func TestActorsThatTellWithoutPauseAreSlowedDownAndLoseNothing(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		const senders, each = 8, 5000
		a, b := start(t, n, "a", small), start(t, n, "b")
		n.Delay(5*time.Millisecond, time.Millisecond)
		inbox := &collector[int]{}
		actor.Spawn(b.sys, inbox.behavior(), "inbox")
		var done sync.WaitGroup
		done.Add(senders)
		for range senders {
			spawnFlood(a, ref[int](a, b, "/user/inbox"), "", done.Done).Tell(each)
		}
		done.Wait()
		soon()
		require.Empty(t, a.lost.got())
		require.Len(t, inbox.got(), senders*each)
	})
}

func TestOneSlowedSenderStaysInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a", small), start(t, n, "b")
		n.Delay(5*time.Millisecond, time.Millisecond)
		inbox := &collector[int]{}
		actor.Spawn(b.sys, inbox.behavior(), "inbox")
		to := ref[int](a, b, "/user/inbox")
		for i := range 5000 {
			to.Tell(i)
		}
		soon()
		require.Empty(t, a.lost.got())
		require.Equal(t, count(5000), inbox.got())
	})
}

func TestAPeerThatAcknowledgesNothingSlowsSendersForASecond(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a", small), start(t, n, "b")
		n.Crash("b")
		to := ref[int](a, b, "/user/inbox")
		begin := time.Now()
		for i := range 1000 {
			to.Tell(i)
		}
		require.Equal(t, time.Second, time.Since(begin))
		synctest.Wait()
		require.Len(t, a.lost.got(), 900)
		for _, l := range a.lost.got() {
			require.ErrorIs(t, l.Reason, remote.ErrOutboxFull)
		}
	})
}

func TestAnAskThatWaitsForRoomEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a", small), start(t, n, "b")
		n.Crash("b")
		for i := range 100 {
			ref[int](a, b, "/user/inbox").Tell(i)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		begin := time.Now()
		_, err := actor.Ask(ctx, ref[question](a, b, "/user/adder"), func(replyTo actor.ActorRef[int]) question {
			return question{1, replyTo}
		})
		require.Error(t, err)
		require.Equal(t, 10*time.Millisecond, time.Since(begin))
	})
}

func TestSlowedSendersGoOnWhenTheEndpointCloses(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a", small), start(t, n, "b")
		n.Crash("b")
		done := make(chan struct{})
		spawnFlood(a, ref[int](a, b, "/user/inbox"), "flood", func() { close(done) }).Tell(200)
		require.NoError(t, a.Close())
		<-done
	})
}

func TestTheWaitForRoomCountsInTheTimeoutOfAnAsk(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a", small), start(t, n, "b")
		n.Crash("b")
		for i := range 100 {
			ref[int](a, b, "/user/inbox").Tell(i)
		}
		to := ref[question](a, b, "/user/adder")
		request := func(replyTo actor.ActorRef[int]) question { return question{1, replyTo} }
		begin := time.Now()
		_, err := actor.AskTimeout(t.Context(), to, 10*time.Millisecond, request)
		require.Equal(t, 10*time.Millisecond, time.Since(begin))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, remote.ErrOutboxFull)
	})
}

func TestAnAskThatHasWaitedForRoomEndsByItsDeadline(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a", small), start(t, n, "b")
		n.Delay(100*time.Millisecond, 0)
		actor.Spawn(b.sys, receive(func(question) {}), "silent")
		flood, to := ref[int](a, b, "/user/inbox"), ref[question](a, b, "/user/silent")
		request := func(replyTo actor.ActorRef[int]) question { return question{1, replyTo} }
		for i := range 100 {
			flood.Tell(i)
		}
		begin := time.Now()
		_, err := actor.AskTimeout(t.Context(), to, time.Second, request)
		require.Equal(t, time.Second, time.Since(begin))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "no reply after 1s")
	})
}

func TestAnActorThatWaitsForASlowNodeDoesNotHoldTheShutdown(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a", func(cfg *transport.Config) { cfg.OutboxBytes = 4 << 10 }), start(t, n, "b")
		n.Delay(100*time.Millisecond, 0) // an acknowledgement takes 200 ms
		spawnFlood(a, ref[int](a, b, "/user/inbox"), "flood", func() {}).Tell(100_000)
		time.Sleep(3 * time.Second)
		begin := time.Now()
		require.NoError(t, a.sys.Shutdown(t.Context()))
		require.LessOrEqual(t, time.Since(begin), 1100*time.Millisecond)
	})
}

func TestActorsThatWaitForADeadNodeHoldNobodyElse(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	a, b := startTCP(t, small), startTCP(t)
	b.stop()
	var done sync.WaitGroup
	const floods = 32
	done.Add(floods)
	for range floods {
		spawnFlood(a, ref[int](a, b, "/user/inbox"), "", done.Done).Tell(200)
	}
	spawnAdder(a.sys)
	adder := ref[question](a, a, "/user/adder")
	worst, begin := time.Duration(0), time.Now()
	for time.Since(begin) < 500*time.Millisecond { // they wait for a second
		asked := time.Now()
		ask(t, adder, 1)
		worst = max(worst, time.Since(asked))
	}
	// An ask that is held up waits until their second is over. 4 ms measured.
	require.Less(t, worst, 500*time.Millisecond)
	done.Wait()
	require.Less(t, time.Since(begin), 3*time.Second)
}
