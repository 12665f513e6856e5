package cron

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var began = time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)

// A simulated host runs a schedule through random times, restarts, changes of the clock and
// outcomes of runs.
type simulated struct {
	*testing.T
	random  *rand.Rand
	ledger  ledger
	planner *planner
	now     time.Time
	running map[key]bool
	dealt   map[string]time.Time // the last due time that was dealt with, by entry
	began   map[string]int       // attempts, by run
}

func (s *simulated) apply(facts []fact) {
	for _, f := range facts {
		switch f := f.(type) {
		case runDue:
			s.deal(f.Name, f.Due)
		case runsSkipped:
			require.Positive(s, f.Count)
			s.deal(f.Name, f.Last)
		case runBegun:
			key := keyOf(f.Name, f.Due)
			require.False(s, s.running[key], "%s begins while it goes on", f.Name)
			s.running[key] = true
			id := fmt.Sprint(key)
			s.began[id]++
			require.Equal(s, s.began[id], f.Attempt)
		case runEnded, entrySet, entryRemoved, rewound:
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
		s.apply(beginDue(s.ledger, host{Node: "n1", Generation: 1, Room: 5 - len(s.running), Running: func(k key) bool { return s.running[k] }}, s.now))
	}
	require.LessOrEqual(s, len(s.running), 5)
	for name, i := range s.ledger.Items {
		going := 0
		for _, o := range i.Open {
			if s.running[keyOf(name, o.Due)] {
				going++
			}
		}
		if i.Entry.Overlap != Allow {
			require.LessOrEqual(s, going, 1, name)
		}
		require.LessOrEqual(s, len(i.History), 20)
	}
}

func (s *simulated) step() {
	switch s.random.IntN(10) {
	case 0: // an outage
		s.running = map[key]bool{}
		s.planner = newPlanner()
		s.now = s.now.Add(time.Duration(s.random.IntN(48)) * time.Hour)
	case 1: // the clock is set back
		s.now = s.now.Add(-time.Duration(s.random.IntN(120)) * time.Minute)
	case 2: // a restart
		s.running = map[key]bool{}
	case 3, 4, 5:
		for name, i := range s.ledger.Items {
			for _, o := range i.Open {
				if key := keyOf(name, o.Due); s.running[key] {
					delete(s.running, key)
					s.apply([]fact{runEnded{Name: name, Due: o.Due, Outcome: Done, At: s.now}})
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
			T: t, random: rand.New(rand.NewPCG(seed, 0)), planner: newPlanner(), now: began,
			running: map[key]bool{}, dealt: map[string]time.Time{}, began: map[string]int{},
		}
		var entries []Entry
		for n := range 6 {
			entries = append(entries, Entry{
				Name: fmt.Sprint("e", n), Spec: []string{"*/10 * * * *", "0 * * * *", "30 2 * * *"}[n%3], Zone: []string{"", "Europe/Berlin"}[n%2],
				Missed: Missed(s.random.IntN(5)), Overlap: Overlap(s.random.IntN(3)), Jitter: time.Duration(s.random.IntN(2)) * 5 * time.Minute,
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
		l := ledger{}.Apply([]fact{entrySet{Entry: Entry{Name: "e", Spec: "0 * * * *"}, At: began}, runDue{Name: "e", Due: began}})
		host := host{Room: 1, Running: func(key) bool { return false }}
		for n := range uint64(maxHosts * 5) { // five restarts on each host
			host.Process, host.Generation = n/5, generation(n/5, n%5)
			facts := beginDue(l, host, began)
			require.IsType(t, runBegun{}, facts[0], name)
			l = l.Apply(facts)
		}
		host.Process, host.Generation = maxHosts, generation(maxHosts, 0)
		l = l.Apply(beginDue(l, host, began))
		i, _ := l.Item("e")
		require.Empty(t, i.Open, name)
		require.Equal(t, Failed, i.History[0].Outcome)
		require.Contains(t, i.History[0].Error, "given up")
	}
}

// A process that loses the schedule and gets it back is another host.
func TestAProcessThatGetsTheScheduleBackIsAnotherHost(t *testing.T) {
	l := ledger{}.Apply([]fact{entrySet{Entry: Entry{Name: "e", Spec: "0 * * * *"}, At: began}, runDue{Name: "e", Due: began}})
	for term := range uint64(maxHosts + 1) {
		l = l.Apply(beginDue(l, host{Room: 1, Process: 7, Generation: term << 32, Running: func(key) bool { return false }}, began))
	}
	i, _ := l.Item("e")
	require.Empty(t, i.Open)
	require.Equal(t, Failed, i.History[0].Outcome)
}

func TestWhatEntriesAreRefused(t *testing.T) {
	for want, change := range map[string]func(*Entry){
		"the name":                   func(e *Entry) { e.Name = "" },
		"five fields":                func(e *Entry) { e.Spec = "@hourly" },
		"time zone":                  func(e *Entry) { e.Zone = "Nowhere" },
		"needs a number from 1":      func(e *Entry) { e.Missed = All(0) },
		"from 1 to 1000":             func(e *Entry) { e.Missed = All(1001) },
		"SkipRun, QueueRun or Allow": func(e *Entry) { e.Overlap = 3 },
		"is negative":                func(e *Entry) { e.Grace = -1 },
		"from 0 to 24 h":             func(e *Entry) { e.Jitter = 25 * time.Hour },
		"4097 bytes":                 func(e *Entry) { e.Args = string(make([]byte, 4097)) },
	} {
		e := Entry{Name: "e", Spec: "0 * * * *"}
		require.NoError(t, e.Check())
		change(&e)
		require.ErrorContains(t, e.Check(), want)
	}
}

// Two runs may go on, the second one has a place, and then the entry no longer allows both.
func TestNoRunBeginsWhileAnotherOfItsEntryGoesOnThoughItWasAllowed(t *testing.T) {
	e := Entry{Name: "e", Spec: "0 * * * *", Overlap: Allow}
	later := began.Add(time.Hour)
	l := ledger{}.Apply([]fact{
		entrySet{Entry: e, At: began},
		runDue{Name: "e", Due: began},
		runDue{Name: "e", Due: later},
		runBegun{Name: "e", Due: later, Attempt: 1},
	})
	host := host{Room: 9, Running: func(k key) bool { return k == keyOf("e", later) }}
	require.Len(t, beginDue(l, host, later), 1)
	e.Overlap = QueueRun
	require.Empty(t, beginDue(l.With(entrySet{Entry: e, At: later}), host, later))
}

// An outage costs what its days cost, and not its runs.
func TestTheRunsOfALongOutageAreCountedOneAndAll(t *testing.T) {
	for days, want := range map[int]int{1: 1438, 14: 20_158, 3650: 5_255_998} {
		now := began.AddDate(0, 0, days)
		l := ledger{}.With(entrySet{Entry: Entry{Name: "minutes", Spec: "* * * * *"}, At: began})
		facts := newPlanner().Due(l, now)
		require.Equal(t, runsSkipped{Name: "minutes", Count: want, Last: now.Add(-2 * time.Minute), Why: NotRun, At: now}, facts[0])
		require.Len(t, facts, 3, "the runs of the last minute are not too late")
	}
}
