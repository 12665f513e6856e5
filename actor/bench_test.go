package actor_test

import (
	"context"
	"sync"
	"testing"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// benchmark returns a system for b, whose measured part begins with the next call to
// b.ResetTimer or b.Loop.
func benchmark(b *testing.B) *actor.System {
	b.Helper()
	b.ReportAllocs()
	s := actor.NewSystem("bench")
	b.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return s
}

// sample is a message of the size that many have.
type sample struct {
	from, value int64
}

// countdown is done when it has been told n messages in all.
func countdown(n int, done *sync.WaitGroup) actor.Behavior[sample] {
	done.Add(1)
	return behaviors.Receive(func(*actor.Context[sample], sample) actor.Behavior[sample] {
		if n--; n == 0 {
			done.Done()
		}
		return behaviors.Same
	})
}

func BenchmarkTellOneToOne(b *testing.B) {
	s := benchmark(b)
	var done sync.WaitGroup
	ref := actor.Spawn(s, countdown(b.N, &done), "counter")
	b.ResetTimer()
	for i := range b.N {
		ref.Tell(sample{1, int64(i)})
	}
	done.Wait()
}

func BenchmarkTellEightToOne(b *testing.B) {
	const senders = 8
	s := benchmark(b)
	each := b.N/senders + 1
	var done sync.WaitGroup
	ref := actor.Spawn(s, countdown(each*senders, &done), "counter")
	b.ResetTimer()
	for sender := range senders {
		go func() {
			for i := range each {
				ref.Tell(sample{int64(sender), int64(i)})
			}
		}()
	}
	done.Wait()
}

func BenchmarkFanOutToThousand(b *testing.B) {
	const receivers = 1000
	s := benchmark(b)
	each := b.N/receivers + 1
	var done sync.WaitGroup
	refs := make([]actor.ActorRef[sample], receivers)
	for i := range refs {
		refs[i] = actor.Spawn(s, countdown(each, &done), "")
	}
	b.ResetTimer()
	for i := range each {
		for _, ref := range refs {
			ref.Tell(sample{1, int64(i)})
		}
	}
	done.Wait()
}

// ball goes to and fro until nothing is left of it.
type ball struct {
	back actor.ActorRef[ball]
	left int
}

func player(done chan<- struct{}) actor.Behavior[ball] {
	return behaviors.Receive(func(ctx *actor.Context[ball], msg ball) actor.Behavior[ball] {
		if msg.left == 0 {
			close(done)
			return behaviors.Same
		}
		msg.back.Tell(ball{ctx.Self(), msg.left - 1})
		return behaviors.Same
	})
}

func BenchmarkPingPong(b *testing.B) {
	s := benchmark(b)
	done := make(chan struct{})
	ping, pong := actor.Spawn(s, player(done), "ping"), actor.Spawn(s, player(done), "pong")
	b.ResetTimer()
	ping.Tell(ball{pong, b.N})
	<-done
}

func BenchmarkAskSequential(b *testing.B) {
	s := benchmark(b)
	echo := actor.Spawn(s, behaviors.Receive(
		func(_ *actor.Context[actor.ActorRef[int]], replyTo actor.ActorRef[int]) actor.Behavior[actor.ActorRef[int]] {
			replyTo.Tell(1)
			return behaviors.Same
		}), "echo")
	request := func(replyTo actor.ActorRef[int]) actor.ActorRef[int] { return replyTo }
	for b.Loop() {
		if _, err := actor.Ask(b.Context(), echo, request); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSpawn(b *testing.B) {
	s := benchmark(b)
	for b.Loop() {
		actor.Spawn(s, behaviors.Ignore[int], "")
	}
}

// BenchmarkTransition measures a behavior that is another closure after every message.
func BenchmarkTransition(b *testing.B) {
	s := benchmark(b)
	var done sync.WaitGroup
	done.Add(1)
	ref := actor.Spawn(s, closure(0, b.N, done.Done), "counter")
	b.ResetTimer()
	for i := range b.N {
		ref.Tell(sample{1, int64(i)})
	}
	done.Wait()
}

func closure(n, end int, done func()) actor.Behavior[sample] {
	return behaviors.Receive(func(*actor.Context[sample], sample) actor.Behavior[sample] {
		if n+1 == end {
			done()
		}
		return closure(n+1, end, done)
	})
}
