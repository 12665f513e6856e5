package persistence

import (
	"fmt"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/persistence/journal"
)

// versionKey is where the metadata of a record has the version of its event.
const versionKey = "version"

// A StoredEvent is an event as the journal has it.
type StoredEvent struct {
	Seq     uint64
	Time    time.Time // when it was written, by its writer's clock
	Type    string    // the name of its type, which need not be registered any more
	Version int       // what [Options.ToJournal] gave it, or 0
	Payload []byte    // CBOR

	system *actor.System
}

// Value returns the event as a value of the type that is registered under its name.
func (s StoredEvent) Value() (any, error) { return unpack[any](s.system, s.Type, s.Payload) }

// Decode decodes the fields of the event into what v points to: those of the same name,
// whatever the type. Fields that are missing stay as they are. It is for types that have
// changed or are gone; refs of actors in them cannot be used.
func (s StoredEvent) Decode(v any) error {
	if err := codec.Unmarshal(s.Payload, v); err != nil {
		return fmt.Errorf("decode a stored %s: %w", s.Type, err)
	}
	return nil
}

// Unchanged returns what a function for [Options.FromJournal] returns where there is nothing to
// adapt: the event as it was stored. It fails when that is no E.
func Unchanged[E any](s StoredEvent) ([]E, error) {
	event, err := unpack[E](s.system, s.Type, s.Payload)
	if err != nil {
		return nil, err
	}
	return []E{event}, nil
}

// Stored returns r as functions for [Options.FromJournal] are given it, for readers of records
// other than the behavior. Refs in the event belong to s, which may be nil when there are
// none.
func Stored(s *actor.System, r *journal.Record) (StoredEvent, error) {
	stored := StoredEvent{Seq: r.Seq, Time: r.Time, Type: r.Type, Payload: r.Payload, system: s}
	if text, has := r.Meta[versionKey]; has {
		version, err := strconv.Atoi(text)
		if err != nil {
			return StoredEvent{}, fmt.Errorf("version %q: %w", text, err)
		}
		stored.Version = version
	}
	return stored, nil
}

// adapted returns the events that record stands for.
func (e *entity[M, E, S]) adapted(record *journal.Record) ([]E, error) {
	stored, err := Stored(e.ctx.System(), record)
	if err != nil {
		return nil, err
	}
	return e.FromJournal(stored)
}
