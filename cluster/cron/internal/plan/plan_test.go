package plan_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/cron/internal/plan"
)

var begun = time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)

// A simulated host runs a schedule through random times, restarts, changes of the clock and
// outcomes of runs.
type simulated struct {
	*testing.T
	random  *rand.Rand
	ledger  plan.Ledger
	planner *plan.Planner
	now     time.Time
	running map[plan.Key]bool
	dealt   map[string]time.Time // the last due time that was dealt with, by entry
	began   map[string]int       // attempts, by run
}

func (s *simulated) apply(facts []plan.Fact) {
	for _, f := range facts {
		switch f := f.(type) {
		case plan.RunDue:
			s.deal(f.Name, f.Due)
		case plan.RunsSkipped:
			require.Positive(s, f.Count)
			s.deal(f.Name, f.Last)
		case plan.RunBegun:
			key := plan.KeyOf(f.Name, f.Due)
			require.False(s, s.running[key], "%s begins while it goes on", f.Name)
			s.running[key] = true
			id := fmt.Sprint(key)
			s.began[id]++
			require.Equal(s, s.began[id], f.Attempt)
		case plan.RunEnded, plan.EntrySet, plan.EntryRemoved:
		}
		s.ledger = s.ledger.With(f)
	}
}

// deal checks that due times are dealt with once and in order, whatever the clock does.
func (s *simulated) deal(name string, due time.Time) {
	require.True(s, due.After(s.dealt[name]), "%s: %v after %v", name, due, s.dealt[name])
	require.False(s, due.After(s.now), "%s is early", name)
	s.dealt[name] = due
}

func (s *simulated) look() {
	s.apply(s.planner.Due(s.ledger, s.now))
	for range 3 {
		s.apply(plan.Begin(s.ledger, plan.Host{Node: "n1", Generation: 1, Room: 5 - len(s.running), Running: func(k plan.Key) bool { return s.running[k] }}, s.now))
	}
	require.LessOrEqual(s, len(s.running), 5)
	for name, i := range s.ledger.Items {
		going := 0
		for _, o := range i.Open {
			if s.running[plan.KeyOf(name, o.Due)] {
				going++
			}
		}
		if i.Entry.Overlap != plan.Allow {
			require.LessOrEqual(s, going, 1, name)
		}
		require.LessOrEqual(s, len(i.History), 20)
	}
}

func (s *simulated) step() {
	switch s.random.IntN(10) {
	case 0: // an outage
		s.running = map[plan.Key]bool{}
		s.planner = plan.NewPlanner()
		s.now = s.now.Add(time.Duration(s.random.IntN(48)) * time.Hour)
	case 1: // the clock is set back
		s.now = s.now.Add(-time.Duration(s.random.IntN(120)) * time.Minute)
	case 2: // a restart
		s.running = map[plan.Key]bool{}
	case 3, 4, 5:
		for name, i := range s.ledger.Items {
			for _, o := range i.Open {
				if key := plan.KeyOf(name, o.Due); s.running[key] {
					delete(s.running, key)
					s.apply([]plan.Fact{plan.RunEnded{Name: name, Due: o.Due, Outcome: plan.Done, At: s.now}})
				}
			}
		}
	default:
		s.now = s.now.Add(time.Duration(s.random.IntN(60)) * time.Minute)
	}
	s.look()
}

func TestSimulatedSchedules(t *testing.T) {
	for seed := range uint64(30) {
		s := &simulated{
			T: t, random: rand.New(rand.NewPCG(seed, 0)), planner: plan.NewPlanner(), now: begun,
			running: map[plan.Key]bool{}, dealt: map[string]time.Time{}, began: map[string]int{},
		}
		var entries []plan.Entry
		for n := range 6 {
			entries = append(entries, plan.Entry{
				Name: fmt.Sprint("e", n), Spec: []string{"*/10 * * * *", "0 * * * *", "30 2 * * *"}[n%3], Zone: []string{"", "Europe/Berlin"}[n%2],
				Missed: plan.Missed(s.random.IntN(5)), Overlap: plan.Overlap(s.random.IntN(3)), Jitter: time.Duration(s.random.IntN(2)) * 5 * time.Minute,
			})
		}
		s.apply(s.planner.Declare(s.ledger, entries, s.now))
		require.Empty(t, s.planner.Declare(s.ledger, entries, s.now))
		for range 400 {
			s.step()
		}
		require.NotEmpty(t, s.began)
	}
}

// A host is a process, in one term of the schedule.
func TestARunThatEndsItsHostsIsGivenUp(t *testing.T) {
	for name, generation := range map[string]func(host, restart uint64) uint64{
		"each begins a term": func(host, restart uint64) uint64 { return host<<32 + restart },
		"each starts alone":  func(host, restart uint64) uint64 { return 1<<32 + 5*host + restart },
	} {
		l := plan.Ledger{}.Apply([]plan.Fact{plan.EntrySet{Entry: plan.Entry{Name: "e", Spec: "0 * * * *"}, At: begun}, plan.RunDue{Name: "e", Due: begun}})
		host := plan.Host{Room: 1, Running: func(plan.Key) bool { return false }}
		for n := range uint64(plan.MaxHosts * 5) { // five restarts on each host
			host.Process, host.Generation = n/5, generation(n/5, n%5)
			facts := plan.Begin(l, host, begun)
			require.IsType(t, plan.RunBegun{}, facts[0], name)
			l = l.Apply(facts)
		}
		host.Process, host.Generation = plan.MaxHosts, generation(plan.MaxHosts, 0)
		l = l.Apply(plan.Begin(l, host, begun))
		i, _ := l.Item("e")
		require.Empty(t, i.Open, name)
		require.Equal(t, plan.Failed, i.History[0].Outcome)
		require.Contains(t, i.History[0].Error, "given up")
	}
}

// A process that loses the schedule and gets it back is another host.
func TestAProcessThatGetsTheScheduleBackIsAnotherHost(t *testing.T) {
	l := plan.Ledger{}.Apply([]plan.Fact{plan.EntrySet{Entry: plan.Entry{Name: "e", Spec: "0 * * * *"}, At: begun}, plan.RunDue{Name: "e", Due: begun}})
	for term := range uint64(plan.MaxHosts + 1) {
		l = l.Apply(plan.Begin(l, plan.Host{Room: 1, Process: 7, Generation: term << 32, Running: func(plan.Key) bool { return false }}, begun))
	}
	i, _ := l.Item("e")
	require.Empty(t, i.Open)
	require.Equal(t, plan.Failed, i.History[0].Outcome)
}

func TestWhatEntriesAreRefused(t *testing.T) {
	for want, change := range map[string]func(*plan.Entry){
		"the name":                   func(e *plan.Entry) { e.Name = "" },
		"five fields":                func(e *plan.Entry) { e.Spec = "@hourly" },
		"time zone":                  func(e *plan.Entry) { e.Zone = "Nowhere" },
		"needs a number from 1":      func(e *plan.Entry) { e.Missed = plan.All(0) },
		"from 1 to 1000":             func(e *plan.Entry) { e.Missed = plan.All(1001) },
		"SkipRun, QueueRun or Allow": func(e *plan.Entry) { e.Overlap = 3 },
		"is negative":                func(e *plan.Entry) { e.Grace = -1 },
		"from 0 to 24 h":             func(e *plan.Entry) { e.Jitter = 25 * time.Hour },
		"4097 bytes":                 func(e *plan.Entry) { e.Args = string(make([]byte, 4097)) },
	} {
		e := plan.Entry{Name: "e", Spec: "0 * * * *"}
		require.NoError(t, e.Check())
		change(&e)
		require.ErrorContains(t, e.Check(), want)
	}
}

// Two runs may go on, the second one has a place, and then the entry no longer allows both.
func TestNoRunBeginsWhileAnotherOfItsEntryGoesOnThoughItWasAllowed(t *testing.T) {
	e := plan.Entry{Name: "e", Spec: "0 * * * *", Overlap: plan.Allow}
	later := begun.Add(time.Hour)
	l := plan.Ledger{}.Apply([]plan.Fact{
		plan.EntrySet{Entry: e, At: begun}, plan.RunDue{Name: "e", Due: begun}, plan.RunDue{Name: "e", Due: later},
		plan.RunBegun{Name: "e", Due: later, Attempt: 1},
	})
	host := plan.Host{Room: 9, Running: func(k plan.Key) bool { return k == plan.KeyOf("e", later) }}
	require.Len(t, plan.Begin(l, host, later), 1)
	e.Overlap = plan.QueueRun
	require.Empty(t, plan.Begin(l.With(plan.EntrySet{Entry: e, At: later}), host, later))
}

// An outage costs what its days cost, and not its runs.
func TestTheRunsOfALongOutageAreCountedOneAndAll(t *testing.T) {
	for days, want := range map[int]int{1: 1438, 14: 20_158, 3650: 5_255_998} {
		now := begun.AddDate(0, 0, days)
		l := plan.Ledger{}.With(plan.EntrySet{Entry: plan.Entry{Name: "minutes", Spec: "* * * * *"}, At: begun})
		facts := plan.NewPlanner().Due(l, now)
		require.Equal(t, plan.RunsSkipped{Name: "minutes", Count: want, Last: now.Add(-2 * time.Minute), Why: plan.NotRun, At: now}, facts[0])
		require.Len(t, facts, 3, "the runs of the last minute are not too late")
	}
}
