package projection

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/persistence/journal"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/tracecontext"
	"github.com/understudy-go/understudy/persistence"
)

// An Event is a stored event, decoded.
type Event[E any] struct {
	ID     string            // the persistence id whose event it is
	Seq    uint64            // its sequence number there
	Offset journal.Offset    // its position in the journal
	Time   time.Time         // of the write, by the writer's clock
	Tags   []string          // as stored
	Meta   map[string]string // as stored
	Event  E

	// Forgotten: the id was erased, with all events that it had before. Event is the zero E, and
	// Seq is 0. Only projections with the option [Forgotten] get it.
	Forgotten bool
}

// An EventError reports an event whose handler has failed or panicked, or that could not be
// decoded. A failed handler is called again; an id whose event cannot be decoded is held back.
// [SkipAfter] skips the event.
type EventError struct {
	ID     string         // the persistence id whose event it is
	Seq    uint64         // its sequence number there
	Offset journal.Offset // its position in the journal
	Err    error          // the failure; an [*actor.PanicError] for a panic
}

// Error implements error.
func (e *EventError) Error() string {
	return fmt.Sprintf("projection: event %d of %q, at %s: %v", e.Seq, e.ID, e.Offset, e.Err)
}

// Unwrap returns the failure.
func (e *EventError) Unwrap() error { return e.Err }

var errNotMine = errors.New("the event is of another type")

// decode returns the events of an entry, which was read with the error damage: one, or those that
// adapt returns. If the key of the event has been destroyed, there are no events.
func decode[E any](s *actor.System, entry *journal.Entry, damage error, adapt func(persistence.StoredEvent) ([]E, error)) ([]Event[E], error) {
	if damage != nil {
		return nil, eventError(entry, fmt.Errorf("%w; restore it from a backup, or skip it with SkipAfter", damage))
	}
	if entry.Record.Shredded {
		return nil, nil
	}
	found, err := decodeRecord(s, &entry.Record, adapt)
	if err != nil {
		return nil, eventError(entry, err)
	}
	events := make([]Event[E], len(found))
	for i, event := range found {
		r := &entry.Record
		events[i] = Event[E]{ID: entry.ID, Seq: r.Seq, Offset: entry.Offset, Time: r.Time, Tags: r.Tags, Meta: r.Meta, Event: event}
	}
	return events, nil
}

func decodeRecord[E any](s *actor.System, r *journal.Record, adapt func(persistence.StoredEvent) ([]E, error)) ([]E, error) {
	if adapt != nil {
		stored, err := persistence.Stored(s, r)
		if err != nil {
			return nil, err
		}
		var events []E
		if err = guard.Run(func() (err error) { events, err = adapt(stored); return err }); err != nil {
			return nil, fmt.Errorf("%w; start a program whose FromJournal can adapt it, or skip it with SkipAfter", err)
		}
		return events, nil
	}
	var x any
	err := guard.Run(func() (err error) {
		x, err = extension.Unpack(s, extension.Payload{Type: r.Type, Data: r.Payload})
		return err
	})
	if isOther(err) {
		return nil, fmt.Errorf("%w; import the package that registers it, or skip such events with SkipOthers", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; start a program that can decode it, with FromJournal if its form has changed, or skip it with SkipAfter", err)
	}
	event, ok := x.(E)
	if !ok {
		return nil, fmt.Errorf("%w: it is a %T, not a %v; ask for a narrower tag, or skip such events with SkipOthers",
			errNotMine, x, reflect.TypeFor[E]())
	}
	return []E{event}, nil
}

func eventError(entry *journal.Entry, err error) error {
	return &EventError{ID: entry.ID, Seq: entry.Record.Seq, Offset: entry.Offset, Err: err}
}

// isOther reports whether an event could not be decoded because of its type, and not because it is
// damaged.
func isOther(err error) bool {
	var unknown *codec.UnknownNameError
	return errors.Is(err, errNotMine) || errors.As(err, &unknown)
}

// A Batch is a sequence of events. They are handled in order; the offset of the projection then
// changes from After to To.
type Batch[E any] struct {
	Name   string         // the name of the offset
	After  journal.Offset // the offset before it; "" is the beginning of the journal
	To     journal.Offset // of the last event, or of a later one that was skipped
	Events []Event[E]     // several events of one stored event share its Seq and Offset
	Within time.Duration  // handling should stop between two events after this duration

	system *actor.System // nil without one
}

// Each calls f for each event in order, until no event is left, the time is up, or f fails or
// panics. A failure or panic is returned as an [*EventError]. Each returns the offset up to which
// the batch is done. f gets ctx; if the system has a tracer, and the event was stored for a command
// in a trace, with a span that is linked to that trace.
func (b *Batch[E]) Each(ctx context.Context, f func(ctx context.Context, e Event[E]) error) (reached journal.Offset, err error) {
	begin := time.Now()
	reached = b.After
	for i := range b.Events {
		e := &b.Events[i]
		if i > 0 && e.Offset != b.Events[i-1].Offset {
			if reached = b.Events[i-1].Offset; time.Since(begin) >= b.Within {
				return reached, nil
			}
		}
		if err := b.handle(ctx, e, f); err != nil {
			return reached, &EventError{ID: e.ID, Seq: e.Seq, Offset: e.Offset, Err: err}
		}
	}
	return b.To, nil
}

func (b *Batch[E]) handle(ctx context.Context, e *Event[E], f func(context.Context, Event[E]) error) error {
	carried := tracecontext.Binary(e.Meta[tracecontext.Key])
	if carried == nil || b.system == nil {
		return guard.Run(func() error { return f(ctx, *e) })
	}
	ctx, end := extension.StartRootSpan(ctx, b.system, carried, extension.Span{
		Operation: "project", Subject: b.Name, Message: func() any { return e.Event },
	})
	err := guard.Run(func() error { return f(ctx, *e) })
	if end != nil {
		end(err)
	}
	return err
}

// isOne reports whether all events of b come from one stored event.
func (b *Batch[E]) isOne() bool {
	return len(b.Events) > 0 && b.Events[0].Offset == b.Events[len(b.Events)-1].Offset
}

func (b *Batch[E]) drop(reached journal.Offset) {
	if reached == b.To {
		b.Events = nil
	}
	done := len(b.Events)
	for done > 0 && b.Events[done-1].Offset != reached {
		done--
	}
	b.After, b.Events = reached, b.Events[done:]
}
