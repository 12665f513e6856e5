package main

import (
	"math/rand/v2"
	"slices"
	"time"
)

const (
	maxProcessors = 1024
	// rounds is how often each processor uses the resource in a simulation.
	rounds = 300
)

// scalesTo returns with how many processors the throughput stops growing: one more adds less than
// half of what the first does, from there on.
func (r resource) scalesTo() int {
	one := r.throughput(1)
	low, high := 1, maxProcessors
	for low < high {
		n := (low + high) / 2
		if step := max(1, n/8); (r.throughput(n+step)-r.throughput(n))/float64(step) < one/2 {
			high = n
		} else {
			low = n + 1
		}
	}
	return low
}

// throughput simulates n processors that compute, for a random time, and then use the resource,
// served in order of arrival. It returns the operations per second.
func (r resource) throughput(n int) float64 {
	random := rand.New(rand.NewPCG(1, uint64(n))) //nolint:gosec // a simulation
	think := func() float64 { return random.ExpFloat64() * float64(r.think) * float64(r.every) }
	arrivals := make([]float64, n)
	for i := range arrivals {
		arrivals[i] = think()
	}
	var free float64
	last := -1
	for range n * rounds {
		i := earliest(arrivals)
		begin := max(free, arrivals[i])
		free = begin + float64(r.held)
		if i != last {
			free += float64(r.transfer)
		}
		arrivals[i], last = free+think(), i
	}
	return float64(n*rounds*r.every) / free * float64(time.Second)
}

// earliest returns the processor that comes first.
func earliest(arrivals []float64) int { return slices.Index(arrivals, slices.Min(arrivals)) }
