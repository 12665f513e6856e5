package workflow

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
)

// drainAtEnd lets the steps end that are executed when a system without a cluster shuts down. In a
// cluster, the shards of a node that leaves do so.
func (r *registry) drainAtEnd() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.drains {
		r.drains = true
		r.system.OnShutdown(actor.ActorsStop, "workflows", r.drain)
	}
}

// drain tells all runs to leave, and waits until they have.
func (r *registry) drain(ctx context.Context) error {
	r.mu.Lock()
	r.leaving = true
	r.mu.Unlock()
	all := r.inMemory()
	for _, in := range all {
		in.self.Tell(leave{})
	}
	for _, in := range all {
		select {
		case <-in.live.gone:
		case <-ctx.Done():
			return fmt.Errorf("runs are still in memory: %w", context.Cause(ctx))
		}
	}
	return nil
}

// leaves reports whether drain has begun.
func (r *registry) leaves() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.leaving
}
