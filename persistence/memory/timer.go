package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Timers implements [journal.TimerStore].
func (j *Journal) Timers(ctx context.Context, id string) (all []journal.Timer, err error) {
	err = j.look(ctx, "read timers", id, func() { all = j.entities[id].allTimers() })
	return all, err
}

// Wakes implements [journal.TimerStore]. It looks at all timers.
func (j *Journal) Wakes(ctx context.Context, in journal.SliceRange, after journal.Wake, before time.Time, limit int) ([]journal.Wake, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if err := cmp.Or(j.usable(ctx), journal.Query{Slices: in}.Validate()); err != nil {
		return nil, err
	}
	var all []journal.Wake
	for id, e := range j.entities {
		if len(e.timers) == 0 || !in.Contains(journal.SliceOf(id)) {
			continue
		}
		for _, t := range e.timers {
			if w := (journal.Wake{Due: t.Due, ID: id}); t.Due.Before(before) && w.Compare(after) > 0 {
				all = append(all, w)
			}
		}
	}
	slices.SortFunc(all, journal.Wake.Compare)
	all = slices.Compact(all)
	return all[:min(len(all), max(limit, 0))], nil
}

// Now implements [journal.TimerStore]. It returns the time of the host.
func (j *Journal) Now(ctx context.Context) (time.Time, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return time.Now(), j.usable(ctx)
}

func (e *entity) changeTimers(changes []journal.TimerChange) {
	for i := range changes {
		c := &changes[i]
		if c.Remove {
			delete(e.timers, c.Key)
			continue
		}
		if e.timers == nil {
			e.timers = map[string]journal.Timer{}
		}
		t := c.Timer
		t.Due, t.Payload = t.Due.Round(0).UTC(), bytes.Clone(t.Payload)
		e.timers[t.Key] = t
	}
}

func (e *entity) allTimers() []journal.Timer {
	if e == nil {
		return nil
	}
	all := make([]journal.Timer, 0, len(e.timers))
	for _, t := range e.timers {
		t.Payload = bytes.Clone(t.Payload)
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b journal.Timer) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Key, b.Key)) })
	return all
}
