package actor_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// BenchmarkTimersSpreadOverASecond starts 500 timers in each of a thousand actors. They expire
// evenly within one second. The time per timer includes waiting; -cpuprofile shows the processor
// time. ms-late is the delay of the latest.
func BenchmarkTimersSpreadOverASecond(b *testing.B) {
	const actors, timers = 1000, 500_000
	s := benchmark(b)
	for b.Loop() {
		var done sync.WaitGroup
		var latest atomic.Int64
		done.Add(timers)
		for range actors {
			actor.Spawn(s, timekeeper(timers/actors, &latest, &done), "")
		}
		done.Wait()
		b.ReportMetric(float64(latest.Load())/1e6, "ms-late")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/timers, "ns/timer")
}

// timekeeper starts timers, and stops when all have expired.
func timekeeper(timers int, latest *atomic.Int64, done *sync.WaitGroup) actor.Behavior[time.Time] {
	return behaviors.Setup(func(ctx *actor.Context[time.Time]) actor.Behavior[time.Time] {
		for i := range timers {
			d := time.Second + time.Duration(i)*time.Second/time.Duration(timers)
			ctx.After(strconv.Itoa(i), d, time.Now().Add(d))
		}
		left := timers
		onTimer := func(_ *actor.Context[time.Time], due time.Time) actor.Behavior[time.Time] {
			late := int64(time.Since(due))
			for was := latest.Load(); late > was && !latest.CompareAndSwap(was, late); was = latest.Load() {
			}
			done.Done()
			if left--; left == 0 {
				return behaviors.Stopped
			}
			return behaviors.Same
		}
		return behaviors.Receive(onTimer)
	})
}
