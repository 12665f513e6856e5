package actor

import (
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkCriticalSections measures what a message for an idle actor, an ask or a spawn does to
// memory that processors share, without contention. internal/lab/contention computes from these
// figures up to how many processors each resource scales. Transfer is the time in which such memory
// moves to another processor.
func BenchmarkCriticalSections(b *testing.B) {
	c := new(core)
	b.Run("scheduler", func(b *testing.B) { // the actor is queued and taken
		var s scheduler
		for b.Loop() {
			s.mu.Lock()
			s.waiting.fresh.push(c)
			s.mu.Unlock()
			s.mu.Lock()
			s.waiting.pop()
			s.mu.Unlock()
		}
	})
	b.Run("local", func(b *testing.B) {
		var q localQueues
		q.open(1)
		r := new(runner)
		for b.Loop() {
			q.add(c)
			r.taken = 0
			q.refill(r, nil)
		}
	})
	var s System
	b.Run("uid", func(b *testing.B) {
		for b.Loop() {
			s.nextUID()
		}
	})
	b.Run("transfer", func(b *testing.B) { // back and forth
		var turns atomic.Int64
		var all sync.WaitGroup
		for mine := range int64(2) {
			all.Go(func() {
				for turn := mine; turn < int64(b.N); turn += 2 {
					for turns.Load() != turn {
					}
					turns.Store(turn + 1)
				}
			})
		}
		all.Wait()
	})
}
