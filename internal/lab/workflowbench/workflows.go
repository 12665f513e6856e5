// Package workflowbench measures runs of package workflow on a journal, for make bench-workflow.
package workflowbench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
)

const (
	workflowsAtOnce = 1000
	stepsOfEach     = 20
	loneRuns        = 300
	sleepers        = 20_000
)

// Measure reports how many steps per second runs make that are made at once, how long a lone run
// of three steps takes, and how much memory a run takes that sleeps.
func Measure(b *testing.B, open func() journal.Journal) {
	for b.Loop() {
		s := actor.NewSystem("bench", persistence.WithJournal(open()), actor.WithLogger(zap.NewNop()))
		jobs, err := workflow.Start(s, "job", steps)
		require.NoError(b, err)
		w := &workflows{b: b, jobs: jobs}
		w.run("warm", 3)
		began := time.Now()
		w.atOnce("many", workflowsAtOnce, stepsOfEach)
		b.ReportMetric(float64(workflowsAtOnce*stepsOfEach)/time.Since(began).Seconds(), "steps/s")
		w.alone()
		w.sleep()
		require.NoError(b, s.Shutdown(context.WithoutCancel(b.Context())))
	}
}

// steps makes n steps, or sleeps for a day if n is zero.
func steps(w *workflow.Run, n int) (sum int, err error) {
	for i := range n {
		one, err := workflow.Step(w, fmt.Sprint("step ", i), func(context.Context) (int, error) { return 1, nil })
		if err != nil {
			return 0, err
		}
		sum += one
	}
	if n == 0 {
		err = workflow.Sleep(w, 24*time.Hour)
	}
	return sum, err
}

type workflows struct {
	b    *testing.B
	jobs *workflow.Type[int, int]
}

func (w *workflows) run(id string, n int) {
	run, err := w.jobs.Run(w.b.Context(), id, n)
	require.NoError(w.b, err)
	got, err := run.Result(w.b.Context())
	require.NoError(w.b, err)
	require.Equal(w.b, n, got)
}

func (w *workflows) atOnce(prefix string, runs, n int) {
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() { w.run(fmt.Sprint(prefix, "-", i), n) })
	}
	all.Wait()
}

func (w *workflows) alone() {
	took := make([]time.Duration, loneRuns)
	for i := range took {
		began := time.Now()
		w.run(fmt.Sprint("lone-", i), 3)
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	w.b.ReportMetric(float64(took[loneRuns/2].Microseconds()), "p50-µs/three-steps")
	w.b.ReportMetric(float64(took[loneRuns*99/100].Microseconds()), "p99-µs/three-steps")
}

// sleep begins runs that sleep, and measures the heap once they have left memory.
func (w *workflows) sleep() {
	before := heap()
	var all sync.WaitGroup
	began := time.Now()
	for part := range 64 {
		all.Go(func() {
			for i := part; i < sleepers; i += 64 {
				_, err := w.jobs.Run(w.b.Context(), fmt.Sprint("sleeper-", i), 0)
				require.NoError(w.b, err)
			}
		})
	}
	all.Wait()
	w.b.ReportMetric(sleepers/time.Since(began).Seconds(), "begun/s")
	<-time.After(15 * time.Second) // they leave after five
	w.b.ReportMetric((float64(heap())-float64(before))/sleepers, "B/sleeper")
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
