package jetstream

import (
	"context"
	"iter"
)

// prefetch is how many messages are asked for at once.
const prefetch = 64

// ahead yields what f returns for 0 to n-1, in order. It calls f for some numbers ahead of
// time, each in a goroutine of its own, and waits for all of them before it ends.
func ahead[T any](ctx context.Context, n int, f func(ctx context.Context, i int) T) iter.Seq[T] {
	return func(yield func(T) bool) {
		ctx, cancel := context.WithCancel(ctx)
		answers := make([]chan T, min(n, prefetch)) // that of i is at i modulo its length
		began, done := 0, 0
		defer func() {
			cancel()
			for ; done < began; done++ {
				<-answers[done%len(answers)]
			}
		}()
		for done < n {
			for ; began < n && began < done+len(answers); began++ {
				answer, i := make(chan T, 1), began
				answers[i%len(answers)] = answer
				go func() { answer <- f(ctx, i) }()
			}
			v := <-answers[done%len(answers)]
			done++
			if !yield(v) {
				return
			}
		}
	}
}
