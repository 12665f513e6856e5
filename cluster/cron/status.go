package cron

import (
	"time"

	"github.com/understudy-go/understudy/cluster/cron/internal/plan"
)

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

// An OpenRun is a run that has not ended. Its fields are Due, Manual, Attempt (0 if it waits),
// Generation, Node and Begun.
type OpenRun = plan.Open

// statusOf returns the status of an entry.
func statusOf(p *plan.Planner, i *plan.Item, now time.Time, history bool) Status {
	s := Status{Entry: i.Entry, Declared: i.Declared != nil, Next: p.Next(i), Open: i.Open, Counts: i.Counts}
	if history {
		s.History = i.History
	}
	if err := p.Problem(i, now); err != nil {
		s.Problem = err.Error()
	}
	return s
}
