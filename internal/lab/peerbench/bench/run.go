package bench

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A Run is one scenario on one library. The library calls Start when everything is set up, Stop
// when everything has arrived, and cleans up nothing: the process ends.
type Run struct {
	N      int // operations
	result Result

	begin  time.Time
	cpu    time.Duration
	before runtime.MemStats

	configuration string    // of the library
	others        []*server // the other processes of a remote scenario
	apart         bool      // they have a processor of their own

	mu        sync.Mutex // guards latencies
	latencies []time.Duration
}

// A Result is what one run has measured, per operation.
type Result struct {
	Value  float64 // nanoseconds, or bytes
	CPU    float64 // nanoseconds of processor time
	Allocs float64
	Bytes  float64
	// P50, P99 and P999 are 0 if operations were not timed one by one.
	P50, P99, P999 time.Duration
}

// String returns the result as text, with the percentiles if there are any.
func (r Result) String() string {
	if r.P99 == 0 {
		return fmt.Sprintf("%.4g (%.4g of processors, %.3g allocations, %.4g bytes)", r.Value, r.CPU, r.Allocs, r.Bytes)
	}
	return fmt.Sprintf("%.4g (%.4g of processors, %.3g allocations, %.4g bytes, p50 %v, p99 %v, p99.9 %v)", r.Value, r.CPU, r.Allocs, r.Bytes, r.P50, r.P99, r.P999)
}

// Start begins the measurement, also in the other processes.
func (r *Run) Start() {
	r.startOthers()
	runtime.GC()
	debug.FreeOSMemory()
	runtime.ReadMemStats(&r.before)
	r.cpu = processorTime()
	r.begin = time.Now()
}

// Stop ends the measurement. The value is the elapsed time.
func (r *Run) Stop() {
	r.set(float64(time.Since(r.begin).Nanoseconds()))
}

// StopProcessor ends the measurement. The value is the processor time.
func (r *Run) StopProcessor() { r.set(float64((processorTime() - r.cpu).Nanoseconds())) }

// StopLatency ends the measurement. The value is the 99th percentile of the latencies.
func (r *Run) StopLatency() {
	r.Stop()
	r.result.Value = float64(r.result.P99.Nanoseconds())
}

// StopLive ends the measurement. The value is the memory that is still in use.
func (r *Run) StopLive() {
	runtime.GC()
	runtime.GC() // frees the content of pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	live := int64(m.HeapAlloc+m.StackInuse) - int64(r.before.HeapAlloc+r.before.StackInuse)
	r.set(float64(live))
}

func (r *Run) set(total float64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	spent, n := r.costSince(m).plus(r.stopOthers()), float64(r.N)
	r.result = Result{Value: total / n, CPU: spent.CPU / n, Allocs: spent.Allocs / n, Bytes: spent.Bytes / n}
	if len(r.latencies) > 0 {
		slices.Sort(r.latencies)
		at := func(permille int) time.Duration { return r.latencies[len(r.latencies)*permille/1000] }
		r.result.P50, r.result.P99, r.result.P999 = at(500), at(990), at(999)
	}
}

// A cost is what one process has spent.
type cost struct{ CPU, Allocs, Bytes float64 }

func (c cost) plus(d cost) cost {
	return cost{c.CPU + d.CPU, c.Allocs + d.Allocs, c.Bytes + d.Bytes}
}

// costSince returns what this process has spent since Start. m is its memory now.
func (r *Run) costSince(m runtime.MemStats) cost {
	return cost{
		CPU:    float64((processorTime() - r.cpu).Nanoseconds()),
		Allocs: float64(m.Mallocs - r.before.Mallocs),
		Bytes:  float64(m.TotalAlloc - r.before.TotalAlloc),
	}
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Split divides n operations evenly among that many.
func Split(n, among int) []int {
	shares := make([]int, among)
	for i := range shares {
		shares[i] = n / among
		if i < n%among {
			shares[i]++
		}
	}
	return shares
}

// Senders calls send from count goroutines, r.N times in all, and waits for them. A message has its
// number in A, and the number of its sender in B.
func (r *Run) Senders(count int, send func(Small)) {
	var all sync.WaitGroup
	for sender, share := range Split(r.N, count) {
		all.Go(func() {
			for i := range share {
				send(Small{A: i, B: sender})
			}
		})
	}
	all.Wait()
}

// Askers calls ask from count goroutines, r.N times in all, and times each answer. enter calls loop
// with a function that asks, where the library can ask.
func (r *Run) Askers(count int, enter func(loop func(ask func(i int) int))) {
	var all sync.WaitGroup
	for _, share := range Split(r.N, count) {
		all.Go(func() {
			enter(func(ask func(i int) int) { r.askAll(share, ask) })
		})
	}
	all.Wait()
}

func (r *Run) askAll(share int, ask func(i int) int) {
	took := make([]time.Duration, 0, share)
	for i := range share {
		begin := time.Now()
		if got := ask(i); got != i+1 {
			fail("asked for %d, got %d", i+1, got)
		}
		took = append(took, time.Since(begin))
	}
	r.mu.Lock()
	r.latencies = append(r.latencies, took...)
	r.mu.Unlock()
}

// A Tally counts the messages that have arrived.
type Tally struct {
	left atomic.Int64
	done chan struct{}
}

// NewTally returns a Tally that waits for n messages.
func NewTally(n int) *Tally {
	t := &Tally{done: make(chan struct{})}
	t.left.Store(int64(n))
	return t
}

// Arrived counts one message. It may be called from any goroutine.
func (t *Tally) Arrived() {
	switch left := t.left.Add(-1); {
	case left == 0:
		close(t.done)
	case left < 0:
		fail("more has arrived than was sent")
	}
}

// Wait waits until all messages have arrived.
func (t *Tally) Wait() { <-t.done }
