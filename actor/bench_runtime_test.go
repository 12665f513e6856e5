package actor_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

func BenchmarkPingPong64Pairs(b *testing.B) {
	const pairs = 64
	s := benchmark(b)
	var ends []chan struct{}
	var pings, pongs []actor.ActorRef[ball]
	for range pairs {
		done := make(chan struct{})
		ends = append(ends, done)
		pings = append(pings, actor.Spawn(s, player(done), ""))
		pongs = append(pongs, actor.Spawn(s, player(done), ""))
	}
	b.ResetTimer()
	for i := range pairs {
		pings[i].Tell(ball{pongs[i], b.N / pairs})
	}
	for _, done := range ends {
		<-done
	}
}

// echo answers every question with 1.
func echo() actor.Behavior[question] {
	return answering(func(_ *actor.Context[question], q question) { q.replyTo.Tell(1) })
}

func BenchmarkAsk64AtOnce(b *testing.B) {
	const askers = 64
	s := benchmark(b)
	ref := actor.Spawn(s, echo(), "echo")
	var done sync.WaitGroup
	b.ResetTimer()
	for range askers {
		done.Go(func() {
			for range b.N/askers + 1 {
				if _, err := actor.Ask(b.Context(), ref, ask); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	done.Wait()
}

func BenchmarkSpawnAndStop(b *testing.B) {
	s := benchmark(b)
	var done sync.WaitGroup
	done.Add(b.N)
	mortal := behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
		done.Done()
		return behaviors.Stopped
	})
	b.ResetTimer()
	for range b.N {
		actor.Spawn(s, mortal, "").Tell(0)
	}
	done.Wait()
}

// A sum is what an actor of the skynet reports.
type sum struct{ value int }

// skynet spawns ten children for each tenth of size, which do likewise, and adds up what
// they report.
func skynet(number, size int, report actor.ActorRef[sum]) actor.Behavior[sum] {
	return behaviors.Setup(func(ctx *actor.Context[sum]) actor.Behavior[sum] {
		if size == 1 {
			report.Tell(sum{number})
			return behaviors.Stopped
		}
		for i := range 10 {
			actor.Spawn(ctx, skynet(number+i*size/10, size/10, ctx.Self()), "")
		}
		total, left := 0, 10
		return behaviors.Receive(func(_ *actor.Context[sum], s sum) actor.Behavior[sum] {
			total += s.value
			if left--; left > 0 {
				return behaviors.Same
			}
			report.Tell(sum{total})
			return behaviors.Stopped
		})
	})
}

// BenchmarkSkynet measures a tree of 111 111 actors, each of which lives shortly.
func BenchmarkSkynet(b *testing.B) {
	const leaves = 100_000
	s := benchmark(b)
	totals := make(chan int, 1)
	root := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[sum], s sum) actor.Behavior[sum] {
		totals <- s.value
		return behaviors.Same
	}), "report")
	for b.Loop() {
		actor.Spawn(s, skynet(0, leaves, root), "")
		if total := <-totals; total != leaves*(leaves-1)/2 {
			b.Fatal(total)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(leaves*10/9), "ns/actor")
}

// BenchmarkBlockingHandlers measures 64 actors whose handlers wait for 5 ms, as for a
// database: 64 messages should take little more than that.
func BenchmarkBlockingHandlers(b *testing.B) {
	const blocking = 64
	s := benchmark(b)
	var done sync.WaitGroup
	var refs []actor.ActorRef[int]
	for range blocking {
		refs = append(refs, actor.Spawn(s, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
			time.Sleep(5 * time.Millisecond)
			done.Done()
			return behaviors.Same
		}), ""))
	}
	for b.Loop() {
		done.Add(blocking)
		for _, ref := range refs {
			ref.Tell(0)
		}
		done.Wait()
	}
}

func BenchmarkTimers(b *testing.B) {
	s := benchmark(b)
	var done sync.WaitGroup
	done.Add(b.N)
	ref := actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[int], n int) actor.Behavior[int] {
		if n < 0 {
			done.Done()
			return behaviors.Same
		}
		ctx.After(fmt.Sprint(n), time.Millisecond, -1)
		return behaviors.Same
	}), "")
	b.ResetTimer()
	for n := range b.N {
		ref.Tell(n)
	}
	done.Wait()
}

// BenchmarkAskAmongAMillionIdleActors is to be compared with BenchmarkAskSequential.
func BenchmarkAskAmongAMillionIdleActors(b *testing.B) {
	s := benchmark(b)
	for range 1_000_000 {
		actor.Spawn(s, behaviors.Ignore[int], "")
	}
	ref := actor.Spawn(s, echo(), "echo")
	if _, err := actor.Ask(b.Context(), ref, ask); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := actor.Ask(b.Context(), ref, ask); err != nil {
			b.Fatal(err)
		}
	}
}
