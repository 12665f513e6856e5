// Package json encodes messages, events and states as JSON in place of CBOR, for journals that
// people and other programs read:
//
//	actor.RegisterType[Placed]("shop.placed", actor.WithCodec(json.Codec{}))
//
// This package is experimental: a minor release may change it.
//
// The package encoding/json does the work, so its tags and methods count. What it would change
// without an error is refused, see [Codec].
package json

import (
	"bytes"
	"encoding"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// A Codec encodes values as JSON. Its name in data is "json". Pass it to [actor.WithCodec].
//
// Fields that are unexported or have the tag `json:"-"` are decoded as zero, and unknown fields in
// data are ignored. Marshal refuses strings that are not UTF-8, which encoding/json would replace.
//
// [actor.WithCodec]: https://pkg.go.dev/github.com/understudy-go/understudy/actor#WithCodec
type Codec struct{}

// Name returns "json".
func (Codec) Name() string { return "json" }

var errUTF8 = errors.New("a string is not UTF-8; use []byte for other bytes")

// Marshal returns v as JSON.
func (Codec) Marshal(v any) ([]byte, error) {
	data, err := stdjson.Marshal(v)
	if err == nil && hasReplacement(data) {
		return nil, errUTF8
	}
	return data, err
}

// Only what is not UTF-8 is escaped so. The backslash of an escape has an even number of them
// before it.
func hasReplacement(data []byte) bool {
	const replacement = `\ufffd`
	for {
		i := bytes.Index(data, []byte(replacement))
		if i < 0 {
			return false
		}
		before := data[:i]
		if escapes := len(before) - len(bytes.TrimRight(before, `\`)); escapes%2 == 0 {
			return true
		}
		data = data[i+len(replacement):]
	}
}

// Unmarshal decodes data, which must be one JSON value, into the variable that into points to.
func (Codec) Unmarshal(data []byte, into any) error { return stdjson.Unmarshal(data, into) }

// CheckType returns an error for a type whose values JSON would change: one with interfaces in
// fields, which are decoded as values of other types, with channels, functions or complex numbers,
// and a struct without exported fields. Types with the methods MarshalJSON and UnmarshalJSON, or
// MarshalText and UnmarshalText, do as they like.
func (Codec) CheckType(t reflect.Type) error { return check(t, map[reflect.Type]bool{}) }

func check(t reflect.Type, seen map[reflect.Type]bool) error {
	if seen[t] || codesItself(t) {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return fmt.Errorf("JSON does not say which type is in an interface, and would decode a %v as another value; use a field of a concrete type, or json.RawMessage", t)
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return fmt.Errorf("JSON cannot encode a %v; leave it out with the tag `json:\"-\"`", t)
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return check(t.Elem(), seen)
	case reflect.Map:
		return errors.Join(check(t.Key(), seen), check(t.Elem(), seen))
	case reflect.Struct:
		return checkFields(t, seen)
	}
	return nil
}

func checkFields(t reflect.Type, seen map[reflect.Type]bool) error {
	encoded := 0
	for f := range t.Fields() {
		if !f.IsExported() && !f.Anonymous || f.Tag.Get("json") == "-" {
			continue
		}
		encoded++
		if err := check(f.Type, seen); err != nil {
			return fmt.Errorf("at field %s of %v: %w", f.Name, t, err)
		}
	}
	if encoded == 0 && t.NumField() > 0 {
		return fmt.Errorf("a %v has no exported fields, so JSON would lose it", t)
	}
	return nil
}

var coding = []reflect.Type{reflect.TypeFor[stdjson.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()}

func codesItself(t reflect.Type) bool {
	return t.Kind() != reflect.Interface && slices.ContainsFunc(coding, reflect.PointerTo(t).Implements)
}
