package handover

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

var (
	simSeed  = flag.Uint64("sim.seed", 0, "simulate the schedule of this seed only, and print what happens")
	simFirst = flag.Uint64("sim.first", 1, "the seed of the first schedule")
	simOnly  = flag.String("sim.mode", "", "simulate this protection only: none, fenced, leased or both")
	simNodes = flag.Int("sim.nodes", 0, "of how many nodes; 0 for 2 to 7, as the seed says")
)

// simModes are those that are simulated.
var simModes = []simMode{simNone, simFenced, simLeased, simBoth}

// See simLaws for the laws. A run that breaks one is shrunk to a schedule from which no fault can
// be left out, and printed with what happened.
func TestSimulatedClustersKeepTheLaws(t *testing.T) {
	table, count := []string{simHead}, effort.Count[uint64](3, 25, 200)
	for _, m := range simModes {
		if *simOnly != "" && *simOnly != string(m) {
			continue
		}
		report := simReport{}
		if *simSeed != 0 {
			s := newSim(drawSim(*simSeed, m, *simNodes), true)
			broken := s.run()
			t.Logf("%v\n%s", s.plan, strings.Join(s.log, "\n"))
			require.Empty(t, broken)
			report.add(s.found)
		} else {
			report = simulateAll(t, m, *simFirst, count)
		}
		table = append(table, report.row(m))
	}
	t.Logf("seeds %d to %d:\n%s", *simFirst, *simFirst+count-1, strings.Join(table, "\n"))
}

// simulateAll runs the schedules of many seeds on all cores.
func simulateAll(t *testing.T, m simMode, first, count uint64) simReport {
	t.Helper()
	var next atomic.Uint64
	var mu sync.Mutex // guards report and broken
	var broken uint64
	report := simReport{}
	begun := time.Now()
	told := begun
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := first + next.Add(1) - 1; seed < first+count; seed = first + next.Add(1) - 1 {
				s := newSim(drawSim(seed, m, *simNodes), false)
				why := s.run()
				mu.Lock()
				report.add(s.found)
				if time.Since(told) >= time.Minute {
					told = time.Now()
					t.Logf("%s: %d of %d schedules in %v", m, report.runs, count, told.Sub(begun).Round(time.Second))
				}
				if why != "" && (broken == 0 || seed < broken) {
					broken = seed
				}
				stop := broken != 0
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	workers.Wait()
	if broken != 0 {
		require.Fail(t, "a law is broken", tellBroken(drawSim(broken, m, *simNodes)))
	}
	return report
}

// tellBroken shrinks a plan that breaks a law, and tells what happens in it.
func tellBroken(p simPlan) string {
	smallest := p.shrink(func(p simPlan) bool { return newSim(p, false).run() != "" })
	s := newSim(smallest, true)
	why := s.run()
	return fmt.Sprintf("%s\ngo test ./singleton/internal/handover -run Simulated -sim.seed=%d -sim.mode=%s -sim.nodes=%d\nsmallest schedule: %v\n%s\n%s",
		why, p.seed, p.mode, p.nodes, smallest, strings.Join(s.log, "\n"), why)
}

func TestASimulationDependsOnItsScheduleAlone(t *testing.T) {
	for _, m := range simModes {
		plan := drawSim(7, m, 0)
		once, again := newSim(plan, true), newSim(plan, true)
		require.Equal(t, once.run(), again.run())
		require.NotEmpty(t, once.log)
		require.Equal(t, once.log, again.log)
		require.Equal(t, once.found, again.found)
	}
}

// The planted mistake: nobody waits for the margin.
func TestABrokenLawOfSingletonsIsShrunkToTheFaultThatBreaksIt(t *testing.T) {
	for seed := uint64(1); seed < 1000; seed++ {
		plan := drawSim(seed, simNone, 5)
		plan.careless = true
		if len(plan.faults) < 4 || newSim(plan, false).run() == "" {
			continue
		}
		told := tellBroken(plan)
		if strings.Count(told, "\n  after ") > 1 {
			continue
		}
		require.Contains(t, told, "the margin should have kept them apart")
		require.Contains(t, told, fmt.Sprintf("-sim.seed=%d ", seed))
		return
	}
	require.Fail(t, "no schedule was shrunk to one fault")
}
