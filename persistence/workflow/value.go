package workflow

import (
	"fmt"
	"reflect"
	"slices"
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
	return value{Type: codec.TypeName(reflect.TypeFor[T]()), Data: data}, nil
}

// open decodes what seal made. bad wraps [ErrTypeChanged]. The types in was count as T.
func open[T any](stored value, was ...string) (v T, err, bad error) {
	name := codec.TypeName(reflect.TypeFor[T]())
	if stored.Type != name && stored.Type != "" && !slices.Contains(was, stored.Type) {
		return v, nil, fmt.Errorf("%w: it is a %s, and the program asks for a %s: accept it with workflow.Was(%q), or run the former program", ErrTypeChanged, stored.Type, name, stored.Type)
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
	if bad != nil { // a value inside of err cannot be encoded; its text can
		data, _ = actor.Result[*struct{}]{Err: fmt.Errorf("%s", err.Error())}.MarshalCBOR()
	}
	return value{Data: data}
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
