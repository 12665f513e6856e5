package persistence

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/persistence/journal"
)

// versionKey is the key of an event's version in the metadata of its record.
const versionKey = "version"

// A StoredEvent is an event in its stored form; see [Options.FromJournal].
type StoredEvent struct {
	Seq     uint64    // its sequence number
	Time    time.Time // of the write, by the clock of the writer
	Type    string    // the name of its type, which may no longer be registered
	Version int       // from [Options.ToJournal], or 0
	Payload []byte    // CBOR

	system *actor.System
}

// Value returns the event as a value of the type that is registered as s.Type.
func (s StoredEvent) Value() (any, error) {
	return unpack(s.system, reflect.TypeFor[any](), s.Type, s.Payload)
}

// Decode decodes the fields of the event into the fields of the same name in *v, whatever the
// type of the event was. Fields that the event does not have stay unchanged. Use it for types
// that have changed or no longer exist; actor refs in them cannot be used.
func (s StoredEvent) Decode(v any) error {
	if err := codec.Unmarshal(s.Payload, v); err != nil {
		return fmt.Errorf("decode a stored %s: %w", s.Type, err)
	}
	return nil
}

// Unchanged returns the event as it was stored. [Options.FromJournal] returns its result for
// events that need no adaptation. It fails if the stored value is not an E.
func Unchanged[E any](s StoredEvent) ([]E, error) {
	event, err := unpack(s.system, reflect.TypeFor[E](), s.Type, s.Payload)
	if err != nil {
		return nil, err
	}
	return []E{as[E](event)}, nil
}

// Stored returns the event in r, for readers of records other than the actor itself. s resolves
// actor refs in the event; it may be nil if the event has no refs.
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
