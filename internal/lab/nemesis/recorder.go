//go:build linux

package main

import (
	"slices"
	"sync"
	"time"

	"github.com/understudy-go/understudy/singleton"
)

// A recorder records the operations of clients.
type recorder struct {
	mu         sync.Mutex // guards the following
	history    History
	acks       []time.Duration
	operations []Operation
	calls      []Call // of lists
	journeys   []Journey
	attempts   int
}

func (r *recorder) tried() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts++
}

func (r *recorder) wrote(w Write) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Writes = append(r.history.Writes, w)
	if w.acked() {
		r.acks = append(r.acks, w.Returned)
	}
}

func (r *recorder) read(read Read) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Reads = append(r.history.Reads, read)
}

func (r *recorder) operated(o Operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.operations = append(r.operations, o)
}

func (r *recorder) visited(c Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
}

// called returns all visits of lists up to now.
func (r *recorder) called() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

func (r *recorder) travelled(j Journey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.journeys = append(r.journeys, j)
}

// made returns all journeys up to now.
func (r *recorder) made() []Journey {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.journeys)
}

// done returns all operations up to now.
func (r *recorder) done() []Operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.operations)
}

// newest returns the generation that the last answer of a register came from.
func (r *recorder) newest() (g singleton.Generation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range slices.Backward(r.operations) {
		if o.answered() {
			return o.Answer.Generation
		}
	}
	return g
}

// acked returns when something was acknowledged, in order.
func (r *recorder) acked() []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(slices.Values(r.acks))
}

// ackedSince reports whether something that was sent after a time has been acknowledged.
func (r *recorder) ackedSince(at time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.history.Writes[max(0, len(r.history.Writes)-100):], func(w Write) bool {
		return w.acked() && w.Invoked > at
	})
}
