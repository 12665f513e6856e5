package codec

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"

	"github.com/fxamacker/cbor/v2"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/naming"
)

// A Format encodes values in place of CBOR. Package actor documents its methods, as Codec.
type Format interface {
	Name() string
	Marshal(v any) ([]byte, error)
	Unmarshal(data []byte, into any) error
}

// formatTag is the tag of an item that a format has encoded: an array of the name of the format and
// its bytes. No standard uses the number. Data that is stored has it, so it never changes.
const formatTag = 49374 // 0xc0de

// How each such item begins: with the tag, and an array of two.
var formatted = AppendHead(AppendHead(nil, MajorTag, formatTag), MajorArray, 2)

// The formats of a type.
type formats struct {
	name   string // of current
	writes Format // nil: CBOR
}

// RegisterFormats is Register for a type whose values current encodes. A nil current is CBOR. All
// values of the process that former has encoded can be decoded, as those of current.
func RegisterFormats(name string, t reflect.Type, bound bool, current Format, former ...Format) {
	of := &formats{writes: current}
	known := map[string]Format{}
	for _, f := range former {
		known[checkedName(f, t)] = f
	}
	if current != nil {
		of.name = checkedName(current, t)
		known[of.name] = current
	}
	registerKind(&kind{name: name, typ: t, bound: bound, formats: of}, known)
}

// checkedName returns the name of a format that can encode values of type t. It panics for another.
func checkedName(f Format, t reflect.Type) (name string) {
	err := guard.Do(func() { name = f.Name() })
	if err == nil {
		err = naming.Check(name)
	}
	if checks, ok := f.(interface{ CheckType(t reflect.Type) error }); ok && err == nil {
		err = guard.Run(func() error { return checks.CheckType(t) })
	}
	if err != nil {
		panic(fmt.Sprintf("codec: type %v cannot have the codec %q, a %T: %v", t, name, f, err))
	}
	return name
}

// codec names the format for a text.
func (of *formats) codec() string {
	if of == nil || of.writes == nil {
		return "CBOR"
	}
	return fmt.Sprintf("the codec %q", of.name)
}

// Data names a format, so that two must not have one name.
func (all *kinds) with(more map[string]Format) map[string]Format {
	joined := maps.Clone(all.formats)
	for name, f := range more {
		if other := joined[name]; other != nil && reflect.TypeOf(other) != reflect.TypeOf(f) {
			panic(fmt.Sprintf("codec: a %T and a %T are both codecs with the name %q", other, f, name))
		}
		if joined == nil {
			joined = map[string]Format{}
		}
		joined[name] = f
	}
	return joined
}

// formatsOf returns nil for a type that is always CBOR.
func formatsOf(t reflect.Type) *formats {
	if k := registered().byType[t]; k != nil {
		return k.formats
	}
	return nil
}

// HasFormat reports whether a format encodes the values of type t, which may be nil.
func HasFormat(t reflect.Type) bool {
	all := registered()
	if len(all.formats) == 0 {
		return false
	}
	k := all.byType[t]
	return k != nil && k.formats != nil && k.formats.writes != nil
}

// IsFormatted reports whether a format has encoded data.
func IsFormatted(data []byte) bool { return bytes.HasPrefix(data, formatted) }

// isFormatted reports whether a format has encoded data and decodes it as t. A type with a method
// that reads CBOR reads the item itself, unless it has a format.
func isFormatted(data []byte, t reflect.Type) bool {
	return IsFormatted(data) && (!reflect.PointerTo(t).Implements(reflect.TypeFor[cbor.Unmarshaler]()) || formatsOf(t) != nil)
}

// A nil pointer is null for every format.
func (of *formats) encodes(v reflect.Value) bool {
	return of != nil && of.writes != nil && !isNilPointer(v)
}

func isNilPointer(v reflect.Value) bool { return v.Kind() == reflect.Pointer && v.IsNil() }

func (of *formats) append(buf *bytes.Buffer, v reflect.Value) error {
	data, err := marshalBy(of.writes, v.Interface())
	if err != nil {
		return fmt.Errorf("by the codec %q: %w", of.name, err)
	}
	if len(data) > MaxSize {
		return errSize
	}
	buf.Write(of.item(buf.AvailableBuffer(), data))
	return nil
}

// The plan spares a value by itself what its parts need. What it gives up has an error.
func (of *formats) plan() *plan {
	return &plan{
		least: 1, foreign: true,
		encode: func(buf []byte, v reflect.Value) []byte {
			if !of.encodes(v) {
				return nil
			}
			data, err := marshalBy(of.writes, v.Interface())
			if err != nil || len(data) > MaxSize {
				return nil
			}
			return of.item(buf, data)
		},
		decode: func(data []byte, v reflect.Value, _ reading) ([]byte, bool) {
			name, encoded, rest, ok := firstFormatted(data)
			return rest, ok && len(rest) == 0 && decodeFormat(name, encoded, v) == nil
		},
	}
}

func (of *formats) item(buf, data []byte) []byte {
	buf = append(buf, formatted...)
	buf = append(AppendHead(buf, MajorText, uint64(len(of.name))), of.name...)
	return append(AppendHead(buf, MajorBytes, uint64(len(data))), data...)
}

// The methods of a format may panic.
func marshalBy(f Format, v any) (data []byte, err error) {
	err = guard.Run(func() (err error) {
		data, err = f.Marshal(v)
		return err
	})
	return data, err
}

// cutFormat returns what a format has encoded. ok is false if data is not that alone.
func cutFormat(data []byte) (name, content []byte, ok bool) {
	name, content, rest, ok := firstFormatted(data)
	return name, content, ok && len(rest) == 0
}

func firstFormatted(data []byte) (name, encoded, rest []byte, ok bool) {
	if rest, ok = bytes.CutPrefix(data, formatted); !ok {
		return nil, nil, nil, false
	}
	if name, rest, ok = content(rest, MajorText); !ok {
		return nil, nil, nil, false
	}
	encoded, rest, ok = content(rest, MajorBytes)
	return name, encoded, rest, ok
}

// toRegister returns the type behind a pointer if that is registered, and the pointer is not.
func toRegister(t reflect.Type) reflect.Type {
	all := registered().byType
	if t.Kind() == reflect.Pointer && all[t] == nil && all[t.Elem()] != nil {
		return t.Elem()
	}
	return t
}

// decodeFormat decodes into a variable.
func decodeFormat(name, data []byte, into reflect.Value) error {
	f := registered().formats[string(name)]
	switch {
	case into.Kind() == reflect.Interface:
		return fmt.Errorf("the codec %q has encoded it, and a %v does not say what it is; use a field of a concrete type", name, into.Type())
	case f == nil:
		return &UnknownFormatError{Format: string(name), Type: toRegister(into.Type())}
	}
	err := guard.Run(func() error { return f.Unmarshal(data, into.Addr().Interface()) })
	if err != nil {
		return fmt.Errorf("by the codec %q: %w", name, err)
	}
	return nil
}
