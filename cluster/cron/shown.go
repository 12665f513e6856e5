package cron

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/status"
)

// A shownSchedule is a schedule as one node knows it. The JSON names of its fields are a stable
// interface; docs/status.md describes them.
type shownSchedule struct {
	Name    string       `json:"name"`
	Here    bool         `json:"here"`    // this node hosts it
	Entries []shownEntry `json:"entries"` // if it is here, by name
}

// A shownEntry is an entry of a schedule.
type shownEntry struct {
	Name    string            `json:"name"`
	Job     string            `json:"job"`
	Spec    string            `json:"spec"`
	Zone    string            `json:"zone"` // "" for UTC
	Paused  bool              `json:"paused"`
	Next    *time.Time        `json:"next"` // when the next run begins; nil if never
	Open    []shownRun        `json:"open"` // runs that wait or go on
	Counts  map[string]uint64 `json:"counts"`
	Last    *shownRun         `json:"last"`    // the last one that has ended or was skipped; nil if no run has
	Problem string            `json:"problem"` // why this node cannot tell when it is due, or ""
}

// A shownRun is a run of an entry, or several that did not take place.
type shownRun struct {
	Due     time.Time  `json:"due"`
	Begun   *time.Time `json:"begun"`   // nil if it waits, or did not take place
	Attempt int        `json:"attempt"` // 0 if it waits, or did not take place
	Outcome string     `json:"outcome"` // "" while it is open
	Error   string     `json:"error"`
}

// section is the Read of a [status.Section].
func (r *register) section() (map[string]any, []status.Problem) {
	all, problems := []shownSchedule{}, []status.Problem(nil)
	for _, c := range r.schedules() {
		all = append(all, c.figures.shown(c.cfg.Name))
	}
	slices.SortFunc(all, func(a, b shownSchedule) int { return cmp.Compare(a.Name, b.Name) })
	for _, s := range all {
		problems = append(problems, s.problems()...)
	}
	return map[string]any{"schedules": all}, problems
}

func (s shownSchedule) problems() (found []status.Problem) {
	for _, e := range s.Entries {
		switch about := s.Name + "/" + e.Name; {
		case e.Problem != "":
			found = append(found, status.Problem{Kind: "schedule", About: about, Text: fmt.Sprintf("The entry %s has no runs: %s.", about, e.Problem)})
		case e.Last != nil && e.Last.Error != "":
			found = append(found, status.Problem{Kind: "schedule", About: about, Text: fmt.Sprintf("The last run of the entry %s has failed: %s.", about, e.Last.Error)})
		}
	}
	return found
}

func (f *figures) shown(name string) shownSchedule {
	f.mu.Lock()
	here, l, now := f.here, f.ledger, f.now
	f.mu.Unlock()
	s := shownSchedule{Name: name, Here: here, Entries: []shownEntry{}}
	planner := newPlanner()
	for _, name := range l.Names() {
		s.Entries = append(s.Entries, entryOf(statusOf(planner, l.Items[name], now(), true)))
	}
	return s
}

func entryOf(s Status) shownEntry {
	e := shownEntry{
		Name: s.Entry.Name, Job: s.Entry.JobName(), Spec: s.Entry.Spec, Zone: s.Entry.Zone, Paused: s.Entry.Paused,
		Next: timeOrNil(s.Next), Open: []shownRun{}, Counts: map[string]uint64{}, Problem: s.Problem,
	}
	for _, o := range s.Open {
		e.Open = append(e.Open, shownRun{Due: o.Due, Begun: timeOrNil(o.Begun), Attempt: o.Attempt})
	}
	for outcome, n := range s.Counts {
		e.Counts[string(outcome)] = n
	}
	if len(s.History) > 0 {
		last := s.History[0]
		e.Last = &shownRun{Due: last.Due, Begun: timeOrNil(last.Begun), Attempt: last.Attempt, Outcome: string(last.Outcome), Error: last.Error}
	}
	return e
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// A Status is an entry with what is known of its runs.
type Status struct {
	Entry    Entry
	Declared bool               // by the program, though perhaps with other settings
	Next     time.Time          // when the next run begins, jitter included; zero if never
	Open     []OpenRun          // runs that wait or go on, those that were due first before the others
	Counts   map[Outcome]uint64 // of runs, since there is the entry
	History  []Record           // the last runs, at most 20, the latest first; nil from Entries
	Problem  string             // why the entry has no runs, though it should, or ""
}

// statusOf returns the status of an entry.
func statusOf(p *planner, i *item, now time.Time, history bool) Status {
	s := Status{Entry: i.Entry, Declared: i.Declared != nil, Next: p.Next(i), Open: i.Open, Counts: i.Counts}
	if history {
		s.History = i.History
	}
	if err := p.Problem(i, now); err != nil {
		s.Problem = err.Error()
	}
	return s
}
