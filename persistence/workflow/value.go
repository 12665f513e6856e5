package workflow

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
)

// A value is a result or an error in its stored form.
type value struct {
	_    struct{} `cbor:",toarray"`
	Type string   // of the result, by its registered name or else that in Go
	Data []byte   // an actor.Result
}

// maxValue is how many bytes a value may have. All journals store that; without a limit, a step
// whose outcome none of them takes would run again for ever.
const maxValue = 12 << 20

// maxFailure is how many bytes an error may have, and maxText how many bytes of its text are stored
// if it has more, or in another place.
const maxFailure, maxText = 1 << 20, 64 << 10

// seal encodes v, or err if that is not nil.
func seal[T any](v T, err error) (value, error) {
	if bad := storable(reflect.TypeFor[T]()); bad != nil {
		return value{}, bad
	}
	if err != nil { // what a failed step returns beside its error counts for nothing
		v = *new(T)
	}
	data, bad := actor.Result[T]{Value: v, Err: err}.MarshalCBOR()
	if bad != nil {
		return value{}, fmt.Errorf("%w: %w", ErrNotStorable, bad)
	}
	if len(data) > maxValue {
		return value{}, fmt.Errorf("%w: it has %d bytes, and a value at most %d: keep it elsewhere, and return where it is", ErrNotStorable, len(data), maxValue)
	}
	return value{Type: codec.TypeName(reflect.TypeFor[T]()), Data: data}, nil
}

// open decodes what seal made. bad wraps [ErrTypeChanged]. The types in was count as T.
func open[T any](stored value, was ...string) (v T, err, bad error) {
	name := codec.TypeName(reflect.TypeFor[T]())
	if stored.Type != name && stored.Type != "" && !slices.Contains(was, stored.Type) {
		return v, nil, fmt.Errorf("%w: it is a %s, and the program asks for a %s: accept it at its step with workflow.Was(%q), register the type under that name, or run the former program", ErrTypeChanged, stored.Type, name, stored.Type)
	}
	var r actor.Result[T]
	if bad := r.UnmarshalCBOR(stored.Data); bad != nil {
		return v, nil, fmt.Errorf("%w: a %s is stored in a form that cannot be decoded now: run the former program, or let the run go on from the step: %w", ErrTypeChanged, stored.Type, bad)
	}
	if stored.Type == "" && r.Err == nil && reflect.TypeFor[T]() != reflect.TypeFor[struct{}]() {
		return v, nil, fmt.Errorf("%w: the step had no result, and the program asks for a %s: run the former program, or give the step another name", ErrTypeChanged, name)
	}
	return r.Value, r.Err, nil
}

// failure returns an error in its stored form, as the outcome of a step of any type.
func failure(err error) value {
	data, bad := actor.Result[*struct{}]{Err: err}.MarshalCBOR()
	if bad != nil || len(data) > maxFailure { // a value inside of err cannot be encoded, or the text is long
		data, _ = actor.Result[*struct{}]{Err: errors.New(textOf(err))}.MarshalCBOR()
	}
	return value{Data: data}
}

// textOf returns the text of an error, without its end if it is long.
func textOf(err error) string {
	text := err.Error()
	if len(text) > maxText {
		return strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

// failureOf returns the error that failure stored.
func failureOf(v value) error {
	var r actor.Result[*struct{}]
	if err := r.UnmarshalCBOR(v.Data); err != nil {
		return err
	}
	return r.Err
}

// checked has, for types that were looked at, an error or nil.
var checked sync.Map

// storable returns why values of a type would lose something.
func storable(t reflect.Type) error {
	if known, ok := checked.Load(t); ok {
		err, _ := known.(error)
		return err
	}
	err := codec.CheckFields(t)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrNotStorable, err)
	}
	checked.Store(t, err)
	return err
}
