package persistence

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/persistence/internal/envelope"
	"github.com/understudy-go/understudy/persistence/journal"
)

// record encodes an event. It leaves the sequence number and the time to the caller. Its errors are
// rejections.
func (e *entity) record(a *addition) (journal.Record, error) {
	r := journal.Record{Epoch: e.epoch, Writer: e.writer, Tags: a.tags}
	if a.version != 0 {
		r.Meta = map[string]string{versionKey: strconv.Itoa(a.version)}
	}
	if a.lost {
		return journal.Record{}, fmt.Errorf("%w: ToJournal has made a %T of it, which recovery could not read as a %v; give the behavior FromJournal, too",
			ErrInvalid, a.stored, e.user.types().event)
	}
	p, err := e.pack(a.stored)
	if err != nil {
		return journal.Record{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	r.Type, r.Payload = p.Type, p.Data
	if e.verify {
		if err := e.decodable(&r); err != nil {
			return journal.Record{}, fmt.Errorf("%w: %w", ErrInvalid, err)
		}
	}
	return r, nil
}

// pack encodes an event or a state. In tests, fields that would be lost are an error.
func (e *entity) pack(v any) (extension.Payload, error) {
	if err := extension.CheckFields(e.ctx.System(), v); err != nil {
		return extension.Payload{}, err
	}
	return extension.Pack(v)
}

// decodable returns an error unless the event in r can be decoded. It returns a panic of the
// decoder as an error.
func (e *entity) decodable(r *journal.Record) error {
	err := guard.Run(func() error { _, err := unpack(e.ctx.System(), e.user.types().event, r.Type, r.Payload); return err })
	if err != nil {
		return fmt.Errorf("what was encoded cannot be decoded: %w", err)
	}
	return nil
}

func (e *entity) replayed(at states, record *journal.Record) error {
	if e.adapts {
		stored, err := Stored(e.ctx.System(), record)
		if err != nil {
			return err
		}
		return e.user.adapt(at, stored, nil)
	}
	event, err := unpack(e.ctx.System(), e.user.types().event, record.Type, record.Payload)
	if err == nil {
		e.user.replay(at, event)
	}
	return err
}

func unpack(s *actor.System, t reflect.Type, typ string, payload []byte) (any, error) {
	if err := envelope.Check(payload); err != nil {
		return nil, err
	}
	v, err := extension.Unpack(s, extension.Payload{Type: typ, Data: payload})
	if err != nil {
		return nil, err
	}
	if !fits(v, t) {
		return nil, fmt.Errorf("stored is a %T, not a %v", v, t)
	}
	return v, nil
}

func fits(v any, t reflect.Type) bool {
	of := reflect.TypeOf(v)
	return of == t || of != nil && t.Kind() == reflect.Interface && of.Implements(t)
}

// versionKey is the key of an event's version in the metadata of its record.
const versionKey = "version"

// A StoredEvent is an event in its stored form; see [Options.FromJournal].
type StoredEvent struct {
	Seq     uint64    // its sequence number
	Time    time.Time // of the write, by the clock of the writer
	Type    string    // the name of its type, which may no longer be registered
	Version int       // from [Options.ToJournal], or 0
	Payload []byte    // CBOR, in which the codec of its type may have written

	system *actor.System
}

// Value returns the event as a value of the type that is registered as s.Type.
func (s StoredEvent) Value() (any, error) {
	return unpack(s.system, reflect.TypeFor[any](), s.Type, s.Payload)
}

// Decode decodes the fields of the event into the fields of the same name in *v, whatever the
// type of the event was. If that had a codec, see [actor.WithCodec], the codec decodes them.
// Fields that the event does not have stay unchanged. Use it for types that have changed or no
// longer exist; actor refs in them cannot be used.
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
