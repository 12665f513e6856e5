package transport_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// An actor that keeps its goroutine does not keep the one that reads the connection. These tests
// use real sockets, because in virtual time every ready actor has a goroutine of its own.

func TestAHandlerThatBlocksDoesNotBlockItsConnection(t *testing.T) {
	a, b := startTCP(t), startTCP(t)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	for range 5 { // each one may keep a goroutine that reads
		blocked := make(chan struct{})
		stuck := actor.Spawn(b.sys, receive(func(int) { close(blocked); <-release }), "")
		actor.Resolve[int](a.sys, stuck.String()).Tell(1)
		<-blocked
		spawned := actor.Spawn(b.sys, receive(func(question) {}), "")
		actor.Resolve[question](a.sys, spawned.String()).Tell(question{})
	}
	spawnAdder(b.sys)
	require.Equal(t, 2, ask(t, ref[question](a, b, "/user/adder"), 1))
}

func TestAHandlerMayAskBackOverTheConnectionThatWokeIt(t *testing.T) {
	a, b := startTCP(t), startTCP(t)
	spawnAdder(a.sys)
	back := ref[question](b, a, "/user/adder")
	answers := make(chan int, 100)
	relay := actor.Spawn(b.sys, behaviors.Receive(func(ctx *actor.Context[int], n int) actor.Behavior[int] {
		got, err := actor.Ask(ctx, back, func(r actor.ActorRef[int]) question { return question{Number: n, ReplyTo: r} })
		if err != nil {
			t.Error(err)
		}
		answers <- got
		return behaviors.Same
	}), "relay")
	to := actor.Resolve[int](a.sys, relay.String())
	for i := range 100 {
		to.Tell(i)
		select {
		case got := <-answers:
			require.Equal(t, i+1, got)
		case <-time.After(10 * time.Second):
			t.Fatal("no answer")
		}
	}
}

func TestAHandlerThatEndsItsGoroutineOrPanicsDoesNotEndItsConnection(t *testing.T) {
	a, b := startTCP(t), startTCP(t)
	spawnAdder(b.sys)
	adder := ref[question](a, b, "/user/adder")
	for i, end := range []func(){runtime.Goexit, func() { panic("boom") }, runtime.Goexit, runtime.Goexit} {
		victim := actor.Spawn(b.sys, receive(func(int) { end() }), "")
		actor.Resolve[int](a.sys, victim.String()).Tell(1)
		require.Equal(t, i+1, ask(t, adder, i))
	}
}

func TestAnEndpointClosesWhileAHandlerBlocks(t *testing.T) {
	a, b := startTCP(t), startTCP(t)
	blocked, release := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(release) })
	stuck := actor.Spawn(b.sys, receive(func(int) { close(blocked); <-release }), "")
	actor.Resolve[int](a.sys, stuck.String()).Tell(1)
	<-blocked
	closed := make(chan struct{})
	go func() { _ = b.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Fatal("Close waits for a handler")
	}
}

func TestActorsThatComputeDoNotHoldUpOthersOnTheirConnection(t *testing.T) {
	a, b := startTCP(t), startTCP(t)
	spawnAdder(b.sys)
	adder := ref[question](a, b, "/user/adder")
	busy := actor.Spawn(b.sys, receive(func(d time.Duration) {
		for begin := time.Now(); time.Since(begin) < d; {
		}
	}), "busy")
	to := actor.Resolve[time.Duration](a.sys, busy.String())
	var all []time.Duration
	for i := range 20 {
		to.Tell(50 * time.Millisecond)
		begin := time.Now()
		require.Equal(t, i+1, ask(t, adder, i))
		all = append(all, time.Since(begin))
	}
	slices.Sort(all)
	require.Less(t, all[len(all)/2], 40*time.Millisecond)
}
