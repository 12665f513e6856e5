package cron

import (
	"time"
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
