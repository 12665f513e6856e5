package actor_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/understudy-go/understudy/actor"
)

// An askFunc asks ref once.
type askFunc func(ctx context.Context, ref actor.ActorRef[question]) (int, error)

// askings are the ways of asking with and without a deadline.
var askings = map[string]askFunc{
	"none": func(ctx context.Context, ref actor.ActorRef[question]) (int, error) { return actor.Ask(ctx, ref, ask) },
	"context": func(ctx context.Context, ref actor.ActorRef[question]) (int, error) {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		return actor.Ask(ctx, ref, ask)
	},
	"timeout": func(ctx context.Context, ref actor.ActorRef[question]) (int, error) {
		return actor.AskTimeout(ctx, ref, 5*time.Second, ask)
	},
}

// BenchmarkAskDeadline measures asks one after the other, by their deadline.
func BenchmarkAskDeadline(b *testing.B) {
	for name, asks := range askings {
		b.Run(name, func(b *testing.B) {
			s := benchmark(b)
			ref := actor.Spawn(s, echo(), "echo")
			for b.Loop() {
				if _, err := asks(context.Background(), ref); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAskDeadline64AtOnce measures asks of 64 goroutines, by their deadline.
func BenchmarkAskDeadline64AtOnce(b *testing.B) {
	const askers = 64
	for name, asks := range askings {
		b.Run(name, func(b *testing.B) {
			s := benchmark(b)
			ref := actor.Spawn(s, echo(), "echo")
			var done sync.WaitGroup
			b.ResetTimer()
			for range askers {
				done.Go(func() {
					for range b.N/askers + 1 {
						if _, err := asks(context.Background(), ref); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			done.Wait()
		})
	}
}
