package json

import (
	"bytes"
	"encoding"
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"slices"
)

var (
	encoders = []reflect.Type{reflect.TypeFor[stdjson.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()}
	decoders = []reflect.Type{reflect.TypeFor[stdjson.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()}
)

func hasOneOf(methods []reflect.Type, t reflect.Type) bool {
	return t.Kind() != reflect.Interface && slices.ContainsFunc(methods, t.Implements)
}

// answersForItself reports whether the methods of a type encode and decode its values. The error
// says why they do not although they seem to.
func answersForItself(p place) (bool, error) {
	t, pointer := p.Type, reflect.PointerTo(p.Type)
	if t.Kind() == reflect.Pointer {
		return false, nil // its element answers
	}
	encodes, decodes := hasOneOf(encoders, pointer), hasOneOf(decoders, pointer)
	switch {
	case !encodes:
		return false, nil // fields are encoded one by one, however they are decoded
	case !decodes:
		return false, fmt.Errorf("%v has a method that encodes it, and none that decodes it; write UnmarshalJSON or UnmarshalText", t)
	case !p.addressed && !hasOneOf(encoders, t):
		return false, fmt.Errorf("JSON would not call MarshalJSON or MarshalText of *%v for a value without an address, as in a field; write it for %v: func (x %s)", t, t, t.Name())
	}
	for f := range structFields(t) {
		if f.Anonymous && t.NumField() > 1 && standsFor(t, f) {
			return false, fmt.Errorf("the methods of the embedded %s would encode the whole %v, and lose its other fields; give that field a name, or %v methods of its own", f.Name, t, t)
		}
	}
	return true, nil
}

func structFields(t reflect.Type) func(func(reflect.StructField) bool) {
	if t.Kind() != reflect.Struct {
		return func(func(reflect.StructField) bool) {}
	}
	return func(yield func(reflect.StructField) bool) {
		for f := range t.Fields() {
			if !yield(f) {
				return
			}
		}
	}
}

// standsFor reports whether t has the encoding method of its embedded field f. Nothing tells that
// from a method of its own, except that it encodes nothing else.
func standsFor(t reflect.Type, f reflect.StructField) (so bool) {
	if !f.IsExported() || !hasOneOf(encoders, reflect.PointerTo(indirect(f.Type))) {
		return false
	}
	defer func() {
		if recover() != nil {
			so = false // a method that does not like empty values is the type's own
		}
	}()
	whole := reflect.New(t)
	part := whole.Elem().FieldByIndex(f.Index)
	if part.Kind() == reflect.Pointer {
		part.Set(reflect.New(part.Type().Elem()))
	}
	one, err := stdjson.Marshal(whole.Interface())
	other, again := stdjson.Marshal(part.Addr().Interface())
	return err == nil && again == nil && bytes.Equal(one, other)
}
