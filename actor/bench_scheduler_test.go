package actor_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
)

// blockBeside spawns n actors whose handlers are blocked until b ends.
func blockBeside(b *testing.B, s *actor.System, n int) {
	b.Helper()
	release := make(chan struct{})
	b.Cleanup(func() { close(release) }) // before the system is shut down
	var all sync.WaitGroup
	all.Add(n)
	for range n {
		actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[int], _ int) actor.Behavior[int] {
			extension.WillBlock(ctx)
			all.Done()
			<-release
			return behaviors.Stopped
		}), "").Tell(0)
	}
	all.Wait()
	runtime.GC()
}

// BenchmarkWillBlock measures a handler that announces that it will block: the announcement, and
// the return of its runner.
func BenchmarkWillBlock(b *testing.B) {
	for _, blocked := range []int{0, 1000, 10_000} {
		b.Run(fmt.Sprint(blocked, "Blocked"), func(b *testing.B) {
			s := benchmark(b)
			blockBeside(b, s, blocked)
			done := make(chan struct{})
			ref := actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[int], left int) actor.Behavior[int] {
				for range left {
					extension.WillBlock(ctx)
				}
				close(done)
				return behaviors.Stopped
			}), "")
			b.ResetTimer()
			ref.Tell(b.N)
			<-done
		})
	}
}

// BenchmarkPingPongBesideBlocked is to be compared with BenchmarkPingPong. With announcements each
// handler announces that it will block, and does not.
func BenchmarkPingPongBesideBlocked(b *testing.B) {
	for _, announces := range []bool{false, true} {
		for _, blocked := range []int{0, 1000, 10_000, 50_000} {
			b.Run(fmt.Sprint(map[bool]string{false: "Silent", true: "Announcing"}[announces], blocked), func(b *testing.B) {
				s := benchmark(b)
				blockBeside(b, s, blocked)
				done := make(chan struct{})
				play := func() actor.Behavior[ball] {
					return behaviors.Receive(func(ctx *actor.Context[ball], msg ball) actor.Behavior[ball] {
						if announces {
							extension.WillBlock(ctx)
						}
						if msg.left == 0 {
							close(done)
							return behaviors.Same
						}
						msg.back.Tell(ball{ctx.Self(), msg.left - 1})
						return behaviors.Same
					})
				}
				ping, pong := actor.Spawn(s, play(), ""), actor.Spawn(s, play(), "")
				b.ResetTimer()
				ping.Tell(ball{pong, b.N})
				<-done
			})
		}
	}
}

// BenchmarkFairness measures the time from a tell to the handler of a quiet actor, beside 64 actors
// that compute and whose mailboxes are never empty.
func BenchmarkFairness(b *testing.B) {
	for name, takes := range map[string]func(handled int) time.Duration{
		"20us": func(int) time.Duration { return 20 * time.Microsecond },
		"1ms":  func(int) time.Duration { return time.Millisecond },
		"Mixed": func(handled int) time.Duration { // long ones among short ones
			if handled%100 == 0 {
				return time.Millisecond
			}
			return 0
		},
		"Bursts": func(handled int) time.Duration { // of short messages, then of long ones
			if handled%10_000 < 50 {
				return time.Millisecond
			}
			return 0
		},
	} {
		b.Run(name, func(b *testing.B) {
			s := benchmark(b)
			for range 64 {
				computeWithoutPause(s, takes)
			}
			time.Sleep(200 * time.Millisecond) // each has had a turn
			handled := make(chan time.Duration, 1)
			quiet := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[time.Time], told time.Time) actor.Behavior[time.Time] {
				handled <- time.Since(told)
				return behaviors.Same
			}), "")
			var times []time.Duration
			for b.Loop() {
				time.Sleep(time.Millisecond)
				quiet.Tell(time.Now())
				times = append(times, <-handled)
			}
			b.ReportMetric(float64(quantile(times, 0.5).Nanoseconds())/1000, "p50-us")
			b.ReportMetric(float64(quantile(times, 0.99).Nanoseconds())/1000, "p99-us")
			b.ReportMetric(float64(quantile(times, 1).Nanoseconds())/1000, "max-us")
		})
	}
}

// computeWithoutPause spawns an actor whose mailbox is never empty. takes returns how long its next
// message takes.
func computeWithoutPause(s *actor.System, takes func(handled int) time.Duration) {
	handled := 0
	ref := actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[int], n int) actor.Behavior[int] {
		handled++
		if long := takes(handled); long > 0 {
			for start := time.Now(); time.Since(start) < long; {
			}
		}
		ctx.Self().Tell(n)
		return behaviors.Same
	}), "")
	for n := range 400 {
		ref.Tell(n)
	}
}

// BenchmarkSleepingHandlers has 1,000 actors whose handlers sleep for a millisecond without an
// announcement. The figure is the time per message: 1 µs if all sleep at the same time.
func BenchmarkSleepingHandlers(b *testing.B) {
	s := benchmark(b)
	const actors = 1000
	var left sync.WaitGroup
	refs := make([]actor.ActorRef[int], actors)
	for i := range refs {
		refs[i] = actor.Spawn(s, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
			time.Sleep(time.Millisecond)
			left.Done()
			return behaviors.Same
		}), "")
	}
	left.Add(b.N)
	b.ResetTimer()
	for i := range b.N {
		refs[i%actors].Tell(i)
	}
	left.Wait()
}
