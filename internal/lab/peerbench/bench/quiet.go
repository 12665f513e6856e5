package bench

import (
	"sync/atomic"
	"time"
)

const (
	// busyActors is how many actors compute beside the quiet one.
	busyActors = 64
	// busyMessages is how many messages each of them has at any time.
	busyMessages = 8
	// quietPause is the time between two messages to the quiet actor.
	quietPause = time.Millisecond
	// quietTime bounds the run of a runtime that takes long for each message. The percentiles are
	// those of the messages that were sent by then. A message that is not handled in that time ends
	// the run, and counts as if it was.
	quietTime = 5 * time.Second
)

// Quiet runs [Contender].Quiet. spawn spawns an actor that calls handle for each message, and sends
// itself the message again if handle says so. tell sends a message from the outside.
func Quiet[P any](r *Run, compute time.Duration, spawn func(handle func() (again bool)) P, tell func(to P)) {
	handled, work := make(chan time.Time, 1), worker(compute)
	quiet := spawn(func() bool {
		handled <- time.Now()
		return false
	})
	busy := make([]P, busyActors)
	for i := range busy {
		busy[i] = spawn(func() bool {
			work()
			return true
		})
	}
	r.Start()
	for range busyMessages {
		for _, b := range busy {
			tell(b)
		}
	}
	r.latencies = make([]time.Duration, 0, r.N)
	for len(r.latencies) < r.N && time.Since(r.begin) < quietTime {
		time.Sleep(quietPause)
		told := time.Now()
		tell(quiet)
		select {
		case at := <-handled:
			r.latencies = append(r.latencies, at.Sub(told))
		case <-time.After(quietTime):
			r.latencies = append(r.latencies, quietTime)
		}
	}
	r.N = len(r.latencies)
	r.StopLatency()
}

// worker returns a function that computes for d. It counts steps rather than time, so that the time
// in which another goroutine has the processor does not count.
func worker(d time.Duration) func() {
	const sample, samples = 100_000, 20
	least := time.Hour
	for range samples {
		begin := time.Now()
		spun.Add(spin(sample))
		least = min(least, time.Since(begin))
	}
	steps := int(float64(sample) * float64(d) / float64(least))
	return func() { spun.Add(spin(steps)) }
}

// spun takes the results of spin, so that the compiler does not leave it out.
var spun atomic.Uint64

// spin computes for that many steps.
func spin(steps int) (x uint64) {
	x = 1
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}
