package effects

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence/workflow"
)

const (
	effectsOfRun = 25
	// slowest is how long the slowest effect takes. A node that leaves waits for its steps 8 s.
	slowest = 5 * time.Second
)

// A job is a run that the program begins.
type job struct {
	Job
	id string
}

// scope is the scope of its tokens, and its id in the journal.
func (j job) scope() string { return sharding.Entity{Type: typeName, ID: j.id}.PersistenceID() }

// plan returns the runs. Every second is slow.
func (s settings) plan() (all []job) {
	r := rand.New(rand.NewPCG(s.seed, 0))
	for left := s.effects; left > 0; left -= effectsOfRun {
		j := job{Job{Effects: min(left, effectsOfRun)}, fmt.Sprint(s.run, "-", len(all))}
		if len(all)%2 == 1 {
			j.Slow = between(r, slowest/2, slowest)
		}
		all = append(all, j)
	}
	return all
}

// make runs all jobs, some at once, and returns their results. The last tenth begins when all
// of ready are closed, so that there is work until each fault has struck.
func (s *story) make(ctx context.Context, all []job, ready []<-chan struct{}) ([]int64, error) {
	runs, results, begin := workflow.Of[Job, int64](s.client, typeName), make([]int64, len(all)), time.Now()
	var next atomic.Int64
	var working sync.WaitGroup
	for range min(s.atOnce, len(all)) {
		working.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(all); i = int(next.Add(1)) - 1 {
				if !sleep(ctx, time.Until(begin.Add(s.spread*time.Duration(i)/time.Duration(len(all))))) {
					return
				}
				if i >= len(all)*9/10 && !allClosed(ctx, ready) {
					return
				}
				var ended bool
				if results[i], ended = s.result(ctx, runs, all[i]); !ended {
					return
				}
				s.made.Add(int64(all[i].Effects))
			}
		})
	}
	working.Wait()
	return results, context.Cause(ctx)
}

// allClosed waits until all channels are closed, and returns false if ctx ends before.
func allClosed(ctx context.Context, all []<-chan struct{}) bool {
	for _, one := range all {
		select {
		case <-one:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// result begins a run, and waits for its result. ended is false if ctx ends before. An error that
// it gets from the client is wrong, and it tries again.
func (s *story) result(ctx context.Context, runs *workflow.Type[Job, int64], j job) (result int64, ended bool) {
	for {
		run, err := runs.Run(ctx, j.id, j.Job)
		if err == nil {
			result, err = run.Result(ctx)
		}
		if err == nil {
			return result, true
		}
		if !sleep(ctx, time.Second) {
			return 0, false
		}
		s.complain(fmt.Errorf("run %s: %w", j.id, err))
	}
}
