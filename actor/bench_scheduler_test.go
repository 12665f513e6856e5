package actor_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	behaviors "github.com/understudy-go/understudy/behavior"
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
