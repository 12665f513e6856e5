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

	mu        sync.Mutex // guards latencies
	latencies []time.Duration
}

// A Result is what one run has measured, per operation.
type Result struct {
	Value    float64 // nanoseconds, or bytes
	CPU      float64 // nanoseconds of processor time
	Allocs   float64
	Bytes    float64
	P50, P99 time.Duration // 0 if operations were not timed one by one
}

// String returns the result as text, with the percentiles if there are any.
func (r Result) String() string {
	if r.P99 == 0 {
		return fmt.Sprintf("%.4g (%.4g of processors, %.3g allocations, %.4g bytes)", r.Value, r.CPU, r.Allocs, r.Bytes)
	}
	return fmt.Sprintf("%.4g (%.4g of processors, %.3g allocations, %.4g bytes, p50 %v, p99 %v)", r.Value, r.CPU, r.Allocs, r.Bytes, r.P50, r.P99)
}

// Start begins the measurement.
func (r *Run) Start() {
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
	n := float64(r.N)
	r.result = Result{
		Value:  total / n,
		CPU:    float64((processorTime() - r.cpu).Nanoseconds()) / n,
		Allocs: float64(m.Mallocs-r.before.Mallocs) / n,
		Bytes:  float64(m.TotalAlloc-r.before.TotalAlloc) / n,
	}
	if len(r.latencies) > 0 {
		slices.Sort(r.latencies)
		r.result.P50 = r.latencies[len(r.latencies)/2]
		r.result.P99 = r.latencies[len(r.latencies)*99/100]
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

// Senders calls send from count goroutines, r.N times in all, and waits for them.
func (r *Run) Senders(count int, send func(i int)) {
	var all sync.WaitGroup
	for _, share := range Split(r.N, count) {
		all.Go(func() {
			for i := range share {
				send(i)
			}
		})
	}
	all.Wait()
}

// Askers calls ask from count goroutines, r.N times in all, and times each answer.
func (r *Run) Askers(count int, ask func(i int) int) {
	var all sync.WaitGroup
	for _, share := range Split(r.N, count) {
		all.Go(func() {
			took := make([]time.Duration, 0, share)
			for i := range share {
				begin := time.Now()
				if got := ask(i); got != i+1 {
					panic(fmt.Sprintf("asked for %d, got %d", i+1, got))
				}
				took = append(took, time.Since(begin))
			}
			r.mu.Lock()
			r.latencies = append(r.latencies, took...)
			r.mu.Unlock()
		})
	}
	all.Wait()
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
		panic("more has arrived than was sent")
	}
}

// Wait waits until all messages have arrived.
func (t *Tally) Wait() { <-t.done }

// A Window bounds the messages in flight. Outboxes are bounded, so a sender has to check now and
// then how far the receivers are.
type Window struct {
	arrived  atomic.Int64
	progress chan struct{}
	total    int64
}

const (
	windowSize = 4096
	windowStep = 256
)

// NewWindow returns a Window for total messages.
func NewWindow(total int) *Window {
	return &Window{progress: make(chan struct{}, 1), total: int64(total)}
}

// Got counts one message that has arrived. Only the goroutine that handles the messages calls it.
func (w *Window) Got() {
	if n := w.arrived.Add(1); n%windowStep == 0 || n == w.total {
		select {
		case w.progress <- struct{}{}:
		default:
		}
	}
}

// Send calls f for each message, and returns when all have arrived.
func (w *Window) Send(f func()) {
	for i := range w.total {
		for i-w.arrived.Load() >= windowSize {
			<-w.progress
		}
		f()
	}
	for w.arrived.Load() < w.total {
		<-w.progress
	}
}
