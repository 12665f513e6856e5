package cron

import (
	"slices"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/histogram"
	"github.com/understudy-go/understudy/internal/status"
)

// figures are what metrics and status pages of a node show of a schedule.
type figures struct {
	lateness histogram.Histogram

	mu     sync.Mutex // guards all below
	counts map[Outcome]uint64
	here   bool   // the instance is on this node
	ledger ledger // if here
	now    func() time.Time
}

func newFigures() *figures { return &figures{counts: map[Outcome]uint64{}} }

// note counts what facts say, and keeps the ledger and its clock for the status page.
func (f *figures) note(facts []fact, l ledger, now func() time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.here, f.ledger, f.now = true, l, now
	for _, fact := range facts {
		switch fact := fact.(type) {
		case runsSkipped:
			f.counts[fact.Why] += uint64(fact.Count)
		case runEnded:
			f.counts[fact.Outcome]++
		case runBegun:
			if fact.Attempt == 1 {
				f.lateness.Observe(max(fact.At.Sub(fact.Due), 0))
			}
		case entrySet, entryRemoved, rewound, runDue:
		}
	}
}

// close notes that the instance has ended.
func (f *figures) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.here, f.ledger, f.now = false, ledger{}, nil
}

// outcomes are all of them; each has a series from the start, because an increase from no series is
// not seen.
var outcomes = []Outcome{Done, Failed, NotRun, Overlapped}

// A register has the schedules that were started in a system.
type register struct {
	mu  sync.Mutex // guards all
	all []*Schedule
}

func registerOf(s *actor.System) *register {
	first := false
	r := extension.Ensure(s, func() *register { first = true; return new(register) })
	if first {
		telemetry.AddSource(s, r.families)
		status.AddSection(s, status.Section{Level: status.Schedules, Read: r.section})
	}
	return r
}

// add returns false if there is a schedule of that name.
func (r *register) add(c *Schedule) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.all, func(other *Schedule) bool { return other.cfg.Name == c.cfg.Name }) {
		return false
	}
	r.all = append(r.all, c)
	return true
}

func (r *register) schedules() []*Schedule {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// families is a [telemetry.Source]. Its series are by schedule, and never by entry.
func (r *register) families() []telemetry.Family {
	runs := telemetry.NewCounter("understudy_cron_runs_total", "Runs of schedules that have ended on this node, or were skipped by it.", "schedule", "outcome")
	open := telemetry.NewGauge("understudy_cron_open_runs", "Runs of schedules that wait or go on on this node.", "schedule")
	lateness := telemetry.NewHistogram("understudy_cron_lateness_seconds", "How long after their due time runs of schedules have begun on this node, jitter included, at their first attempts.", "schedule")
	for _, c := range r.schedules() {
		c.figures.add(c.cfg.Name, &runs, &open, &lateness)
	}
	return []telemetry.Family{runs, open, lateness}
}

func (f *figures) add(name string, runs, open, lateness *telemetry.Family) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range outcomes {
		runs.Add(float64(f.counts[o]), name, string(o))
	}
	n := 0
	for _, i := range f.ledger.Items {
		n += len(i.Open)
	}
	open.Add(float64(n), name)
	late := f.lateness.Read()
	lateness.AddDurations(late.Count, late.Sum, late.AtMost, name)
}
