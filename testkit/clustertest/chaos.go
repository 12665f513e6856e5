package clustertest

import (
	"cmp"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var (
	chaosSeed     = flag.Uint64("chaos.seed", 0, "clustertest: run chaos tests with this `seed` only")
	chaosCount    = flag.Int("chaos.count", 0, "clustertest: run chaos tests with this `number` of seeds")
	chaosSchedule scheduleFlag
)

func init() {
	flag.Var(&chaosSchedule, "chaos.schedule", "clustertest: run chaos tests with this `schedule` only; the empty one has no faults")
}

// A scheduleFlag is nil without a schedule, which differs from the empty one.
type scheduleFlag struct{ schedule Schedule }

func (f *scheduleFlag) String() string { return f.schedule.String() }

func (f *scheduleFlag) Set(text string) (err error) {
	f.schedule, err = ParseSchedule(text)
	return err
}

// A failing schedule is run again so often, to see how often it fails.
const repeats = 3

// Chaos runs a story on a cluster with random faults, and checks that the invariants hold. The
// zero value is ready.
//
// A schedule of faults is drawn from a seed before the run. If an invariant does not hold, the
// test fails with the seed, the schedule, and the smallest failing schedule that was found by
// leaving out and shortening faults.
//
// Runs do not repeat exactly, because memberlist uses its own source of random numbers. So a
// failing schedule is run again a few times first; the report says how often it failed.
type Chaos struct {
	// Nodes is the number of nodes, "n1" to "nN". The default is 5.
	Nodes int

	// Faults is the number of faults to draw. The default is 8.
	Faults int

	// Length is the time within which faults begin. The default is a minute.
	Length time.Duration

	// Kinds are the kinds of faults to draw from; one that is listed twice is drawn twice as
	// often. The default is all.
	Kinds []Kind

	// Seed is the first seed. The default is 1. The flag -chaos.seed replaces it, and Count
	// by 1.
	Seed uint64

	// Count is the number of seeds to run, one after the other. The default is 1. The flag
	// -chaos.count replaces it.
	Count int

	// Schedule, if it is not nil, is run instead of a drawn one. The empty schedule has no
	// faults. The flag -chaos.schedule replaces it, even by the empty one.
	Schedule Schedule

	// Settle is the time after the last fault within which the nodes must be one cluster, with no
	// singleton moving. The default is a minute.
	Settle time.Duration

	// ShrinkRuns is the limit of runs in the search for a smaller schedule. The default is 60; a
	// negative number means no search.
	ShrinkRuns int

	// ShrinkTime is the limit of real time for the search. The default is a minute.
	ShrinkTime time.Duration

	// MembershipOnly declares that the story is about membership alone. Otherwise a run fails as
	// vacuous if no node sends messages of actors to another during any fault, because such
	// faults test nothing but membership.
	MembershipOnly bool

	// Options change the configuration of nodes.
	Options []Option
}

func (c Chaos) withDefaults() Chaos {
	c.Nodes = cmp.Or(c.Nodes, 5)
	c.Faults = cmp.Or(c.Faults, 8)
	c.Length = cmp.Or(c.Length, time.Minute)
	c.Seed = cmp.Or(c.Seed, 1)
	c.Count = cmp.Or(c.Count, 1)
	c.Settle = cmp.Or(c.Settle, time.Minute)
	c.ShrinkRuns = cmp.Or(c.ShrinkRuns, 60)
	c.ShrinkTime = cmp.Or(c.ShrinkTime, time.Minute)
	if len(c.Kinds) == 0 {
		c.Kinds = []Kind{Partition, OneWay, Isolate, Crash, Leave, Pause, Delay, Lose, Duplicate, Drift, Jump}
	}
	return c
}

func (c Chaos) withFlags() Chaos {
	if *chaosCount > 0 {
		c.Count = *chaosCount
	}
	if *chaosSeed > 0 {
		c.Seed, c.Count = *chaosSeed, 1
	}
	if chaosSchedule.schedule != nil {
		c.Schedule, c.Count = chaosSchedule.schedule, 1
	}
	return c
}

// Run fails the test if an invariant does not hold in some round. In each round it calls story
// once, in a goroutine and a bubble of its own, when all nodes are up and before the first fault.
//
// story spawns the actors to test, and states the invariants with [Round.Check], [Round.Always] and
// [Round.Finally]. It returns, or calls [Round.Begin] and continues during the faults. Goroutines
// that it starts must end by themselves. State shared between rounds is the story's own concern.
//
// Run always checks that the nodes become one cluster after the last fault, with equal views and
// no singleton moving, and that nothing is left running.
//
// Run must not be called in a bubble.
func (c Chaos) Run(t *testing.T, story func(r *Round)) {
	t.Helper()
	if inBubble() {
		t.Fatal("clustertest: Chaos makes bubbles of its own; call it outside of synctest.Test")
	}
	c = c.withDefaults().withFlags()
	for seed := c.Seed; seed < c.Seed+uint64(c.Count); seed++ { //nolint:gosec // positive
		s := c.Schedule
		if s == nil {
			s = c.Draw(seed)
		}
		if f := c.hunt(t, seed, s, story); f != nil {
			t.Fatal(f.report())
		}
	}
}

type finding struct {
	seed      uint64
	schedule  Schedule
	violation *violation
	repeated  bool
	again     int // how many of the repeats have failed
	smallest  Schedule
	last      *violation // of the smallest
	runs      int        // it took to find it
}

func (c Chaos) hunt(t *testing.T, seed uint64, s Schedule, story func(*Round)) *finding {
	t.Helper()
	v := c.play(t, seed, s, story)
	if v == nil {
		return nil
	}
	f := &finding{seed: seed, schedule: s, violation: v, smallest: s, last: v}
	if c.ShrinkRuns < 0 || v.name == leftRunning || v.name == vacuous {
		return f
	}
	fails := func(candidate Schedule) bool {
		again := c.play(t, seed, candidate, story)
		if again == nil || again.name != v.name {
			return false
		}
		f.last = again
		return true
	}
	f.repeated = true
	for range repeats {
		if fails(s) {
			f.again++
		}
	}
	if f.again > 0 {
		sh := shrinker{fails: fails, runs: c.ShrinkRuns, until: time.Now().Add(c.ShrinkTime)}
		f.smallest = sh.shrink(s)
		f.runs = sh.spent
	}
	return f
}

// The bubble itself finds this violation.
const leftRunning = "nothing is left running"

// v may be nil.
func leak(v *violation, left error) *violation {
	if v == nil {
		return &violation{name: leftRunning, err: left}
	}
	v.err = fmt.Errorf("%w; and %w", v.err, left)
	return v
}

func (c Chaos) play(t *testing.T, seed uint64, s Schedule, story func(*Round)) (v *violation) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			v = leak(v, fmt.Errorf("%v\n%s", p, leftInBubble()))
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{TB: t}
		r := c.round(rec, seed, len(s))
		rec.Cleanup(r.end)
		alone(func() { r.run(s, story) })
		rec.cleanUp()
		v = r.violation
		failure, failed, log := rec.result()
		if v == nil && failed {
			v = &violation{name: failedInTest, err: fmt.Errorf("%s", strings.TrimSpace(failure))}
		}
		if v != nil {
			v.log = log
		}
	})
	return v
}

func (c Chaos) round(t testing.TB, seed uint64, faults int) *Round {
	begun := make(chan struct{})
	return &Round{
		begun:    begun,
		mayBegin: sync.OnceFunc(func() { close(begun) }),
		sentAt:   make(map[int]uint64),
		TB:       t,
		Cluster:  newCluster(t, seed, append([]Option{knowing(c.names())}, c.Options...)),
		chaos:    c,
		active:   make(map[int]Fault),
		mends:    make(map[int]func()),
		absent:   make(map[string]int),
		tries:    make(map[string]*try),
		leaving:  make(map[string]chan struct{}),
		arrivals: make(chan *try, faults+1),
	}
}

func (f *finding) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "chaos: seed %d: %q does not hold: %v\n", f.seed, f.violation.name, f.violation.err)
	fmt.Fprintf(&b, "\nits schedule:\n%s", indent(f.schedule.String()))
	switch {
	case f.again > 0:
		fmt.Fprintf(&b, "\nIt failed again in %d of %d runs. The smallest of %d others that still fails:\n%s", f.again, repeats, f.runs, indent(f.smallest.String()))
		fmt.Fprintf(&b, "with: %v\n", f.last.err)
	case f.repeated:
		fmt.Fprintf(&b, "\nIt did not fail again in %d runs, so it was not made smaller: histories do not repeat exactly.\n", repeats)
	}
	line := strings.Join(strings.Split(strings.TrimSpace(f.smallest.String()), "\n"), "; ")
	fmt.Fprintf(&b, "\nrun it with: -chaos.seed=%d -chaos.schedule='%s'\n", f.seed, line)
	if len(f.last.log) > 0 {
		fmt.Fprintf(&b, "\nthe end of its log:\n%s", indent(strings.Join(f.last.log, "\n")))
	}
	return b.String()
}

func indent(text string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n\t") + "\n"
}
