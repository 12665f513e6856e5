package router_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/router"
	behaviors "github.com/understudy-go/understudy/behavior"
)

type ping struct{ n int }

// One sender, n messages, counted where they arrive; told to one actor directly, for
// comparison, and through pools of four.
func BenchmarkTell(b *testing.B) {
	byNumber := router.ConsistentHashing(func(p ping) string { return "0123456789abcdef"[p.n%16 : p.n%16+1] })
	for name, opts := range map[string][]router.Option{
		"round-robin": {router.RoundRobin()}, "random": {router.Random()},
		"hashing": {byNumber}, "smallest": {router.SmallestMailbox()},
	} {
		b.Run(name, func(b *testing.B) {
			measure(b, func(w actor.Behavior[ping]) actor.Behavior[ping] { return router.Pool(4, w, opts...) })
		})
	}
	b.Run("direct", func(b *testing.B) {
		measure(b, func(w actor.Behavior[ping]) actor.Behavior[ping] { return w })
	})
}

func measure(b *testing.B, wrap func(actor.Behavior[ping]) actor.Behavior[ping]) {
	s := actor.NewSystem("bench")
	defer func() { _ = s.Shutdown(context.WithoutCancel(b.Context())) }()
	var handled atomic.Int64
	done := make(chan struct{})
	worker := behaviors.Receive(func(*actor.Context[ping], ping) actor.Behavior[ping] {
		if handled.Add(1) == int64(b.N) {
			close(done)
		}
		return nil
	})
	ref := actor.Spawn(s, wrap(worker), "target")
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		ref.Tell(ping{i})
	}
	<-done
}
