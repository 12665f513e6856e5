package codec

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/persistence/journal"
)

func (w *wrapper) encodeTimers(id string, changes []journal.TimerChange) ([]journal.TimerChange, error) {
	encoded := slices.Clone(changes)
	for i := range encoded {
		c := &encoded[i]
		if c.Remove {
			c.Payload = nil // it must not be stored as it is, by any journal
			continue
		}
		payload, err := w.codecs.encode(idOfTimer(id, &c.Timer), c.Payload)
		if err != nil {
			return nil, err
		}
		c.Payload = payload
	}
	return encoded, nil
}

func (w *wrapper) Timers(ctx context.Context, id string) ([]journal.Timer, error) {
	if w.timers == nil {
		return nil, unsupported("read timers")
	}
	all, err := w.timers.Timers(ctx, id)
	if err == nil {
		err = w.decodeTimers(id, all)
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

func (w *wrapper) decodeTimers(id string, all []journal.Timer) error {
	for i := range all {
		t := &all[i]
		payload, shredded, err := w.codecs.decode(idOfTimer(id, t), t.Payload)
		if err != nil {
			return wrapOp("read timers", id, fmt.Errorf("timer %q: %w", t.Key, err))
		}
		t.Payload, t.Shredded = payload, shredded
	}
	return nil
}

func (w *wrapper) Wakes(ctx context.Context, slices journal.SliceRange, after journal.Wake, before time.Time, limit int) ([]journal.Wake, error) {
	if w.timers == nil {
		return nil, unsupported("read wakes")
	}
	return w.timers.Wakes(ctx, slices, after, before, limit)
}

func (w *wrapper) Now(ctx context.Context) (time.Time, error) {
	if w.timers == nil {
		return time.Time{}, unsupported("time of the store")
	}
	return w.timers.Now(ctx)
}

func idOfTimer(id string, t *journal.Timer) PayloadID {
	return PayloadID{ID: id, Seq: t.Attempt, Type: t.Type, Timer: t.Key, Due: t.Due.Round(0).UTC()}
}
