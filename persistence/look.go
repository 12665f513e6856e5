package persistence

import (
	"context"
	"fmt"
	"math"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/inspect"
	"github.com/understudy-go/understudy/persistence/journal"
)

// look returns what the actor has stored. It claims nothing and writes nothing, so a running actor
// of the id is not disturbed.
func look(ctx context.Context, e *entity, q inspect.Query) (inspect.Found, error) {
	extension.WillBlock(e.ctx) //nolint:contextcheck // it takes the actor's context, not a context.Context
	if q.Trial != nil {
		return try(ctx, e, q.Trial)
	}
	if q.At == 0 {
		q.At = math.MaxInt64 // as far as the journals count
	}
	l := looking{entity: e, q: q, at: e.user.begin(nil), found: inspect.Found{ID: e.id}}
	err := guard.Run(func() error { return l.run(ctx) })
	if err != nil {
		return inspect.Found{}, fmt.Errorf("look at %q: %w", e.id, err)
	}
	e.user.commit(l.at)
	l.found.State = e.user.value(l.at)
	return l.found, nil
}

// looking is a recovery that only reads.
type looking struct {
	*entity
	q     inspect.Query
	at    states // while the entity has none
	found inspect.Found
}

func (l *looking) run(ctx context.Context) error {
	from := l.journal
	if states, ok := from.(*stateJournal); ok { // whose records replace one another
		if err := l.lastState(ctx, states.Journal); err != nil {
			return err
		}
		return l.list(ctx, states.Journal)
	}
	if err := l.snapshot(ctx); err != nil {
		return err
	}
	for r, err := range from.Read(ctx, l.id, l.found.Seq+1, l.q.At) {
		switch {
		case err != nil:
			return err
		case l.isLater(&r):
			return l.list(ctx, from)
		case r.Seq != l.found.Seq+1:
			return fmt.Errorf("%w: the events up to %d are deleted, and no snapshot that can be used has them", ErrCorrupt, r.Seq-1)
		case r.Shredded:
			l.found.Shredded++
		default:
			if err := l.replayed(l.at, &r); err != nil {
				return fmt.Errorf("event %d: %w", r.Seq, err)
			}
		}
		l.found.Seq, l.found.Time = r.Seq, r.Time
	}
	return l.list(ctx, from)
}

func (l *looking) isLater(r *journal.Record) bool {
	return !l.q.Until.IsZero() && r.Time.After(l.q.Until)
}

// snapshot begins with the newest one that is old enough and can be decoded.
func (l *looking) snapshot(ctx context.Context) error {
	if l.store == nil || l.q.NoSnapshots {
		return nil
	}
	for before := l.q.At; before > 0; {
		s, ok, _, err := l.store.LoadSnapshot(ctx, l.id, before)
		if err != nil || !ok {
			return err
		}
		if s.Shredded {
			l.found.Seq, l.found.Shredded = s.Seq, 1
			return nil
		}
		if state, _, err := l.stateOf(&s); err == nil && (l.q.Until.IsZero() || !s.Time.After(l.q.Until)) {
			l.at, l.found.Seq = l.user.begin(state), s.Seq
			return nil
		}
		if s.Seq == 0 || s.Seq > before {
			return fmt.Errorf("%w: a snapshot up to %d was asked for, and the store has answered with %d", ErrCorrupt, before, s.Seq)
		}
		before = s.Seq - 1
	}
	return nil
}

func (l *looking) lastState(ctx context.Context, from Journal) error {
	var last *journal.Record
	for r, err := range from.Read(ctx, l.id, 1, l.q.At) {
		if err != nil {
			return err
		}
		if l.isLater(&r) {
			break
		}
		last = &r
	}
	if last == nil {
		return nil
	}
	l.found.Seq, l.found.Time = last.Seq, last.Time
	if last.Shredded {
		l.found.Shredded = 1
		return nil
	}
	state, _, err := l.stateOf(&journal.Snapshot{Seq: last.Seq, Type: last.Type, Payload: last.Payload})
	if err == nil {
		l.at = l.user.begin(state)
	}
	return err
}

// list decodes the last events one by one, so that one that cannot be decoded hides no other.
func (l *looking) list(ctx context.Context, from Journal) error {
	if l.q.Events <= 0 || l.found.Seq == 0 {
		return nil
	}
	first := uint64(1)
	if n := uint64(l.q.Events); l.found.Seq > n {
		first = l.found.Seq - n + 1
	}
	for r, err := range from.Read(ctx, l.id, first, l.found.Seq) {
		if err != nil {
			return err
		}
		event := inspect.Event{Seq: r.Seq, Time: r.Time, Type: r.Type, Shredded: r.Shredded}
		if !r.Shredded {
			value, err := l.value(&r)
			if event.Event = value; err != nil {
				event.Error = guard.Text(err)
			}
		}
		l.found.Events = append(l.found.Events, event)
	}
	return nil
}

func (l *looking) value(r *journal.Record) (value any, err error) {
	stored, err := Stored(l.ctx.System(), r)
	if err == nil {
		err = guard.Run(func() error { value, err = stored.Value(); return err })
	}
	return value, err
}
