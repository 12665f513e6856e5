package journal

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"
)

// Timers implements [TimerStore].
func (j *Memory) Timers(ctx context.Context, id string) (all []Timer, err error) {
	err = j.look(ctx, "read timers", id, func() { all = j.entities[id].allTimers() })
	return all, err
}

// Wakes implements [TimerStore]. It looks at all timers.
func (j *Memory) Wakes(ctx context.Context, in SliceRange, after Wake, before time.Time, limit int) ([]Wake, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if err := cmp.Or(j.usable(ctx), Query{Slices: in}.Validate()); err != nil {
		return nil, err
	}
	var all []Wake
	for id, e := range j.entities {
		if len(e.timers) == 0 || !in.Contains(SliceOf(id)) {
			continue
		}
		for _, t := range e.timers {
			if w := (Wake{Due: t.Due, ID: id}); t.Due.Before(before) && w.Compare(after) > 0 {
				all = append(all, w)
			}
		}
	}
	slices.SortFunc(all, Wake.Compare)
	all = slices.Compact(all)
	return all[:min(len(all), max(limit, 0))], nil
}

// Now implements [TimerStore]. It returns the time of the host.
func (j *Memory) Now(ctx context.Context) (time.Time, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return time.Now(), j.usable(ctx)
}

func (e *entity) changeTimers(changes []TimerChange) {
	for i := range changes {
		c := &changes[i]
		if c.Remove {
			delete(e.timers, c.Key)
			continue
		}
		if e.timers == nil {
			e.timers = map[string]Timer{}
		}
		t := c.Timer
		t.Due, t.Payload = t.Due.Round(0).UTC(), bytes.Clone(t.Payload)
		e.timers[t.Key] = t
	}
}

func (e *entity) allTimers() []Timer {
	if e == nil {
		return nil
	}
	all := make([]Timer, 0, len(e.timers))
	for _, t := range e.timers {
		t.Payload = bytes.Clone(t.Payload)
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b Timer) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Key, b.Key)) })
	return all
}
