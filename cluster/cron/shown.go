package cron

import (
	"cmp"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/cron/internal/plan"
	"github.com/understudy-go/understudy/internal/cronstatus"
)

// shown is the [cronstatus.Source] of a node.
func (r *register) shown() []cronstatus.Schedule {
	all := []cronstatus.Schedule{}
	for _, c := range r.schedules() {
		all = append(all, c.figures.shown(c.cfg.Name))
	}
	slices.SortFunc(all, func(a, b cronstatus.Schedule) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func (f *figures) shown(name string) cronstatus.Schedule {
	f.mu.Lock()
	here, l, now := f.here, f.ledger, f.now
	f.mu.Unlock()
	s := cronstatus.Schedule{Name: name, Here: here, Entries: []cronstatus.Entry{}}
	planner := plan.NewPlanner()
	for _, name := range l.Names() {
		s.Entries = append(s.Entries, shownEntry(statusOf(planner, l.Items[name], now(), true)))
	}
	return s
}

func shownEntry(s Status) cronstatus.Entry {
	e := cronstatus.Entry{
		Name: s.Entry.Name, Job: s.Entry.JobName(), Spec: s.Entry.Spec, Zone: s.Entry.Zone, Paused: s.Entry.Paused,
		Next: timeOrNil(s.Next), Open: []cronstatus.Run{}, Counts: map[string]uint64{}, Problem: s.Problem,
	}
	for _, o := range s.Open {
		e.Open = append(e.Open, cronstatus.Run{Due: o.Due, Begun: timeOrNil(o.Begun), Attempt: o.Attempt})
	}
	for outcome, n := range s.Counts {
		e.Counts[string(outcome)] = n
	}
	if len(s.History) > 0 {
		last := s.History[0]
		e.Last = &cronstatus.Run{Due: last.Due, Begun: timeOrNil(last.Begun), Attempt: last.Attempt, Outcome: string(last.Outcome), Error: last.Error}
	}
	return e
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
