package persistence

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/persistence/internal/envelope"
	"github.com/understudy-go/understudy/persistence/journal"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// record encodes event, which has led to state. It leaves the sequence number and the time to the
// caller. Its errors are rejections.
func (e *entity[M, E, S]) record(event E, state S) (journal.Record, error) {
	r := journal.Record{Epoch: e.epoch, Writer: e.writer}
	var stored any = event
	if e.ToJournal != nil {
		var version int
		if stored, version = e.ToJournal(event); version != 0 {
			r.Meta = map[string]string{versionKey: strconv.Itoa(version)}
		}
	}
	if _, readable := stored.(E); !readable && stored != nil && e.ToJournal != nil && e.FromJournal == nil {
		return journal.Record{}, fmt.Errorf("%w: ToJournal has made a %T of it, which recovery could not read as a %v; give the behavior FromJournal, too",
			ErrInvalid, stored, reflect.TypeFor[E]())
	}
	p, err := e.pack(stored)
	if err != nil {
		return journal.Record{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	r.Type, r.Payload = p.Type, p.Data
	if e.verify {
		if err := e.decodable(&r); err != nil {
			return journal.Record{}, fmt.Errorf("%w: %w", ErrInvalid, err)
		}
	}
	if e.Tags != nil {
		r.Tags = e.Tags(state, event)
	}
	return r, nil
}

// pack encodes an event or a state. In tests, fields that would be lost are an error.
func (e *entity[M, E, S]) pack(v any) (extension.Payload, error) {
	if err := extension.CheckFields(e.ctx.System(), v); err != nil {
		return extension.Payload{}, err
	}
	return extension.Pack(v)
}

// decodable returns an error unless the event in r can be decoded. It returns a panic of the
// decoder as an error.
func (e *entity[M, E, S]) decodable(r *journal.Record) error {
	err := guard.Run(func() error { _, err := unpack[E](e.ctx.System(), r.Type, r.Payload); return err })
	if err != nil {
		return fmt.Errorf("what was encoded cannot be decoded: %w", err)
	}
	return nil
}

// replayed applies the events that record stands for to state.
func (e *entity[M, E, S]) replayed(state S, record *journal.Record) (S, error) {
	if e.FromJournal == nil {
		event, err := unpack[E](e.ctx.System(), record.Type, record.Payload)
		if err != nil {
			return state, err
		}
		return e.onEvent(state, event), nil
	}
	events, err := e.adapted(record)
	if err != nil {
		return state, err
	}
	for _, event := range events {
		state = e.onEvent(state, event)
	}
	return state, nil
}

// unpack decodes an event or a state.
func unpack[T any](s *actor.System, typ string, payload []byte) (v T, err error) {
	if err := envelope.Check(payload); err != nil {
		return v, err
	}
	x, err := extension.Unpack(s, extension.Payload{Type: typ, Data: payload})
	if err != nil {
		return v, err
	}
	v, ok := x.(T)
	if !ok {
		return v, fmt.Errorf("stored is a %T, not a %v", x, reflect.TypeFor[T]())
	}
	return v, nil
}
