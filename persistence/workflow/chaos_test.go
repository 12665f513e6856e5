//go:build !quick

package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A till is outside of the cluster. It does what a key asks for once, and nothing for a process
// that was replaced.
type till struct {
	mu       sync.Mutex
	highest  map[string]uint64 // tokens, by run
	done     map[string]uint64 // tokens, by key
	calls    int
	repeated int
	refused  int
	late     []string // steps that were called again by a process that knew of a later one
}

var errReplaced = errors.New("a later process has the run")

func (m *till) do(ctx context.Context, run string, step int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	key, token := workflow.Key(ctx), workflow.Token(ctx)
	m.calls++
	if later, ok := m.done[fmt.Sprintf("job/%s/step %d", run, step+1)]; ok && token >= later {
		m.late = append(m.late, key)
	}
	if token < m.highest[run] {
		m.refused++
		return errReplaced
	}
	m.highest[run] = token
	if _, known := m.done[key]; known {
		m.repeated++
		return nil
	}
	m.done[key] = token
	return nil
}

// Whatever happens to the nodes, a run that was begun comes to its end, each of its steps is done
// once, and no step runs again whose outcome is stored.
func TestInChaosRunsComeToTheirEnds(t *testing.T) {
	clustertest.Chaos{Nodes: 3, Faults: 5, ShrinkRuns: -1}.Run(t, runsInChaos)
}

func runsInChaos(r *clustertest.Round) {
	outside := &till{highest: map[string]uint64{}, done: map[string]uint64{}}
	var mu sync.Mutex
	begun, numbers := map[string]bool{}, map[string]int{}
	var last *workflow.Type[int, int]
	r.EachNode(func(n *cluster.Node) {
		jobs, err := workflow.Start(n, "job", func(w *workflow.Run, _ int) (int, error) {
			sum := 0
			for i := range 3 {
				one, err := workflow.Step(w, fmt.Sprint("step ", i), func(ctx context.Context) (int, error) {
					return 1, outside.do(ctx, w.ID(), i)
				}, workflow.Retry(0, actor.Backoff{Min: time.Second, Max: 5 * time.Second}))
				if err != nil {
					return 0, err
				}
				sum += one
				if err := workflow.Sleep(w, time.Duration(i)*4*time.Second); err != nil {
					return 0, err
				}
			}
			return sum, nil
		})
		if err != nil {
			r.Fatalf("%v", err)
		}
		mu.Lock()
		last = jobs
		name := n.View().Self.Name
		mu.Unlock()
		go func() {
			for {
				mu.Lock()
				numbers[name]++
				id := fmt.Sprint(name, "-", numbers[name])
				mu.Unlock()
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				_, err := jobs.Run(ctx, id, 0)
				cancel()
				mu.Lock()
				if err == nil {
					begun[id] = true
				}
				mu.Unlock()
				select {
				case <-n.Terminated():
					return
				case <-time.After(2 * time.Second):
				}
			}
		}()
	})
	r.Finally("each run has come to its end, with each step done once", func() error {
		mu.Lock()
		jobs, ids := last, make([]string, 0, len(begun))
		for id := range begun {
			ids = append(ids, id)
		}
		mu.Unlock()
		if len(ids) < 10 {
			return fmt.Errorf("only %d runs have begun", len(ids))
		}
		for _, id := range ids {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			got, err := jobs.Handle(id).Result(ctx)
			cancel()
			if err != nil || got != 3 {
				return fmt.Errorf("run %s: %d, %w", id, got, err)
			}
		}
		outside.mu.Lock()
		defer outside.mu.Unlock()
		r.Logf("%d runs, %d calls, of which %d were repeated and %d refused", len(ids), outside.calls, outside.repeated, outside.refused)
		if len(outside.late) > 0 {
			return fmt.Errorf("steps ran again although their outcomes are stored: %q", outside.late)
		}
		return nil
	})
}
