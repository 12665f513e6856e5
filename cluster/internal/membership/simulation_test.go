package membership

import (
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/internal/simulation"
)

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	w.note(format, args...)
	w.t.Errorf("%s\nhistory:\n%s", fmt.Sprintf(format, args...), strings.Join(w.log, "\n"))
	w.t.FailNow()
}

// between draws a duration.
func (w *world) between(low, high time.Duration) time.Duration {
	return low + time.Duration(w.random.Int64N(int64(high-low)))
}

// A verdictOn is the result of a history.
type verdictOn struct {
	failure string // empty if no invariant was broken
	kept    int    // promises that came true
	moved   map[transition]int
}

// A recorder replaces a test, so that a failing history can be repeated with fewer faults.
type recorder struct{ failure string }

type brokenLaw struct{}

func (*recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) { r.failure = fmt.Sprintf(format, args...) }

func (*recorder) FailNow() { panic(brokenLaw{}) }

// simulate runs the history of a schedule.
func simulate(s schedule, tune func(*Settings)) (v verdictOn) {
	var r recorder
	w := newWorld(&r, s.seed, s.size)
	w.tune, w.apart = tune, s.apart
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(brokenLaw); !ok {
				panic(p)
			}
		}
		v = verdictOn{failure: r.failure, kept: w.kept, moved: w.moved}
	}()
	for i, n := range w.nodes {
		w.after(s.starts[i], n.start)
	}
	w.run(15 * time.Second)
	w.checkOneCluster()
	w.disturbed = w.begin
	w.loss = s.loss
	for _, f := range s.faults {
		if s.mayEnd {
			w.apply(f)
		} else {
			w.promiseAfter(f)
		}
		w.run(f.then)
	}
	w.run(20 * time.Second)
	w.heal()
	w.run(30 * time.Second)
	w.heal() // nodes that were leaving have left by now
	w.run(30 * time.Second)
	w.checkOneCluster()
	return v
}

// shrink returns a schedule that still breaks an invariant and from which no fault can be left
// out, together with its result.
func shrink(s schedule, tune func(*Settings)) (schedule, verdictOn) {
	s.faults = simulation.Shrink(s.faults, func(fewer []fault) bool {
		smaller := s
		smaller.faults = fewer
		return simulate(smaller, tune).failure != ""
	})
	return s, simulate(s, tune)
}

var (
	firstSeed = flag.Uint64("seed", 0, "the seed of the first random history")
	sizes     = flag.Int("nodes", 0, "of how many nodes; 0 for 3, 5 and 7 in turn")
)

// Histories describes random histories of one kind.
type histories struct {
	count  uint64
	size   func(seed uint64) int // nil means the size of the flag
	faults uint64                // upper limit, exclusive
	tune   func(seed uint64, set *Settings)
	change func(s *schedule) // nil changes nothing
}

func sizeOf(seed uint64) int {
	if *sizes > 0 {
		return *sizes
	}
	return 3 + 2*int(seed%3)
}

// simulateAll runs histories, each as a test of its own, named by its seed.
func simulateAll(t *testing.T, h histories) {
	if h.size == nil {
		h.size = sizeOf
	}
	if h.tune == nil {
		h.tune = func(uint64, *Settings) {}
	}
	var kept atomic.Int64
	t.Run("histories", func(t *testing.T) {
		for seed := *firstSeed; seed < *firstSeed+h.count; seed++ {
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
				t.Parallel()
				tune := func(set *Settings) { h.tune(seed, set) }
				s := draw(seed, h.size(seed), int(seed%h.faults))
				if h.change != nil {
					h.change(&s)
				}
				v := simulate(s, tune)
				kept.Add(int64(v.kept))
				if v.failure != "" {
					smallest, v := shrink(s, tune)
					require.Fail(t, "a law is broken", "schedule: %v\nsmallest: %v\n%s", s, smallest, v.failure)
				}
			})
		}
	})
	t.Logf("%d histories; %d times a majority had to go on, and did", h.count, kept.Load())
}

func TestAHistoryCanBeReplayed(t *testing.T) {
	tell := func() []string {
		s := draw(5, 5, 5)
		w := newWorld(t, s.seed, s.size)
		for _, n := range w.nodes {
			n.start()
		}
		for _, f := range s.faults {
			w.apply(f)
			w.run(10 * time.Second)
		}
		return w.log
	}
	first, second := tell(), tell()
	require.Equal(t, first, second)
}

// The planted mistake: no node ever decides, so a majority does not continue without the
// others.
func TestABrokenLawIsShrunkToTheFaultThatBreaksIt(t *testing.T) {
	manual := func(set *Settings) { set.Downing = downing.Manual{} }
	s := draw(1, 3, 5)
	s.loss = 0
	s.faults = append(s.faults,
		fault{kind: paused, lasts: time.Second, then: 40 * time.Second},
		fault{kind: cutOff, node: 1, lasts: 20 * time.Second, then: 40 * time.Second})
	v := simulate(s, manual)
	require.NotEmpty(t, v.failure)
	smallest, v := shrink(s, manual)
	require.Contains(t, v.failure, "of the majority")
	require.Len(t, smallest.faults, 1, "%v", smallest)
}
