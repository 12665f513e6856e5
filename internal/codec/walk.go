package codec

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of a value. They are the same for encoding and for decoding.
const (
	// MaxDepth is how deep arrays, maps and structs may be nested.
	MaxDepth = 64

	// MaxSize is how many bytes an encoded value may have.
	MaxSize = 256 << 20

	maxElements = 1 << 20

	maxHops = 1000
)

// A walk checks a value before it is encoded, and after it was decoded. It ends with the first
// fault. Its depth is bounded, so it ends in a value that contains itself. Its size is bounded, so
// it ends in a value that contains the same pointers again and again.
type walk struct {
	depth int // arrays, maps and structs around
	hops  int // pointers and interfaces around
	size  int // minimum bytes of the encoding so far
}

type fault struct {
	path []string // from the inside to the outside
	err  error
}

func broken(format string, args ...any) *fault { return &fault{err: fmt.Errorf(format, args...)} }

func (f *fault) at(format string, args ...any) *fault {
	if f != nil {
		f.path = append(f.path, fmt.Sprintf(format, args...))
	}
	return f
}

func (f *fault) in(t reflect.Type) error {
	slices.Reverse(f.path)
	return &EncodeError{Type: t, Path: shorten(strings.Join(f.path, "")), Err: f.err}
}

// inside is in, where the caller names the type.
func (f *fault) inside() error {
	switch {
	case f == nil:
		return nil
	case len(f.path) == 0:
		return f.err
	}
	slices.Reverse(f.path)
	return fmt.Errorf("at %s: %w", shorten(strings.Join(f.path, "")), f.err)
}

// Values that contain themselves have long paths.
func shorten(path string) string {
	const most = 400
	if len(path) <= most {
		return path
	}
	return strings.ToValidUTF8(path[:most/2], "") + " … " + strings.ToValidUTF8(path[len(path)-most/2:], "")
}

var (
	errDepth = fmt.Errorf("it is nested deeper than %d levels, or has itself inside", MaxDepth)
	errHops  = fmt.Errorf("it is behind more than %d pointers, or has itself inside", maxHops)
	errSize  = fmt.Errorf("the value has more than %d bytes", MaxSize)
)

func (w *walk) part(s *shape, v reflect.Value) *fault {
	if s.check != nil {
		return s.check(w, v)
	}
	if w.depth+s.height > MaxDepth {
		return &fault{err: errDepth}
	}
	return w.grow(s.least)
}

func (w *walk) grow(n int) *fault {
	if w.size += n; w.size > MaxSize {
		return &fault{err: errSize}
	}
	return nil
}

// leave ends it.
func (w *walk) enter(n int) *fault {
	if n > maxElements {
		return broken("it has %d elements, and an array or a map may have %d", n, maxElements)
	}
	if w.depth++; w.depth > MaxDepth {
		return &fault{err: errDepth}
	}
	return w.grow(1)
}

func (w *walk) leave() { w.depth-- }

func (w *walk) fields(fields []shapedField, least int, v reflect.Value) *fault {
	if f := w.enter(0); f != nil {
		return f
	}
	defer w.leave()
	if f := w.grow(least); f != nil {
		return f
	}
	for i := range fields {
		if f := w.part(fields[i].shape, v.Field(fields[i].index)); f != nil {
			return f.at(".%s", fields[i].name)
		}
	}
	return nil
}

func (w *walk) elements(s *shape, v reflect.Value) *fault {
	if f := w.enter(v.Len()); f != nil {
		return f
	}
	defer w.leave()
	if s.check == nil {
		if w.depth+s.height > MaxDepth && v.Len() > 0 {
			return (&fault{err: errDepth}).at("[0]")
		}
		return w.grow(s.least * v.Len())
	}
	for i := range v.Len() {
		if f := s.check(w, v.Index(i)); f != nil {
			return f.at("[%d]", i)
		}
	}
	return nil
}

func (w *walk) entries(key, value *shape, v reflect.Value) *fault {
	if f := w.enter(v.Len()); f != nil {
		return f
	}
	defer w.leave()
	if v.Len() == 0 {
		return nil
	}
	k, e := reflect.New(key.typ).Elem(), reflect.New(value.typ).Elem()
	for all := v.MapRange(); all.Next(); {
		k.SetIterKey(all)
		if f := w.key(key, k); f != nil {
			return f.at(" key %q", short(k))
		}
		e.SetIterValue(all)
		if f := w.part(value, e); f != nil {
			return f.at("[%q]", short(k))
		}
	}
	return nil
}

func (w *walk) key(s *shape, v reflect.Value) *fault {
	at := v
	if at.Kind() == reflect.Interface {
		at = at.Elem()
	}
	switch at.Kind() {
	case reflect.Float32, reflect.Float64:
		if math.IsNaN(at.Float()) {
			return broken("a NaN is no key that could be found again")
		}
	case reflect.Pointer:
		return broken("a pointer as a key would be another one when it is decoded")
	}
	return w.part(s, v)
}

func short(k reflect.Value) string {
	if k.Kind() == reflect.Interface {
		k = k.Elem()
	}
	text := ""
	switch k.Kind() {
	case reflect.Invalid:
		text = "nil"
	case reflect.String:
		text = k.String()
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		text = fmt.Sprintf("%v", k)
	default:
		text = "a " + k.Type().String()
	}
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}

func (w *walk) behind(s *shape, v reflect.Value) *fault {
	if v.IsNil() {
		return w.grow(1)
	}
	if w.hops++; w.hops > maxHops {
		return &fault{err: errHops}
	}
	defer func() { w.hops-- }()
	to := v.Elem()
	if isNothing(to) {
		return broken("a pointer to a nil or to the zero time would be decoded as a nil pointer; use a nil pointer, or no pointer")
	}
	return w.part(s, to)
}

func isNothing(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return v.IsNil()
	case reflect.Struct:
		if !v.CanInterface() { // it is embedded
			return false
		}
		t, is := reflect.TypeAssert[time.Time](v)
		return is && t.IsZero()
	}
	return false
}

func checkString(w *walk, v reflect.Value) *fault {
	if s := v.String(); !utf8.ValidString(s) {
		return &fault{err: errUTF8}
	}
	return w.grow(1 + v.Len())
}

var errUTF8 = errors.New("the string is not UTF-8; use []byte for other bytes")

func checkBytes(w *walk, v reflect.Value) *fault { return w.grow(1 + v.Len()) }

func checkTime(w *walk, v reflect.Value) *fault {
	if !v.CanInterface() { // it is embedded, and nothing of it is encoded
		return nil
	}
	t, _ := reflect.TypeAssert[time.Time](v)
	if year := t.UTC().Year(); year < 0 || year > 9999 {
		return broken("the time is in the year %d, and only years 0 to 9999 (in UTC) can be encoded", year)
	}
	return w.grow(1)
}

// checkForgotten refuses a struct without encoded fields if one of these fields is not zero,
// because it would be decoded as zero.
func checkForgotten(fields []int) func(*walk, reflect.Value) *fault {
	return func(w *walk, v reflect.Value) *fault {
		for _, i := range fields {
			if !v.Field(i).IsZero() {
				return broken("a %v has no exported fields to encode, so its value would be lost; export its fields, or give it methods MarshalCBOR and UnmarshalCBOR; where it is a field, it may be left out with the tag `cbor:\"-\"`", v.Type())
			}
		}
		defer w.leave()
		return w.enter(0)
	}
}

func checkNilInterface(_ *walk, v reflect.Value) *fault {
	if v.IsNil() {
		return nil
	}
	return broken("a %v in a %v cannot be decoded, as its type is not encoded; use a field of a concrete type", v.Elem().Type(), v.Type())
}

// The type of a value in an interface without methods is not encoded, so it must be the type that
// decoding creates.
func checkInterface(w *walk, v reflect.Value) *fault {
	if v.IsNil() {
		return w.grow(1)
	}
	if w.hops++; w.hops > maxHops {
		return &fault{err: errHops}
	}
	defer func() { w.hops-- }()
	in := v.Elem()
	switch in.Type() {
	case reflect.TypeFor[bool](), reflect.TypeFor[int64](), reflect.TypeFor[float64]():
		return w.grow(1)
	case reflect.TypeFor[string]():
		return checkString(w, in)
	case reflect.TypeFor[[]byte](), reflect.TypeFor[[]any](), reflect.TypeFor[map[string]any]():
		if !in.IsNil() {
			return shapeOf(in.Type()).check(w, in)
		}
		return broken("a nil %v in an interface would be decoded as nil; use nil", in.Type())
	}
	return broken("%s", instead(in.Type()))
}

func instead(t reflect.Type) string {
	use := "use a field of that type, or nil, bool, int64, float64, string, []byte, []any or map[string]any"
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		use = "use int64, or a field of that type"
	case reflect.Float32, reflect.Float64:
		use = "use float64, or a field of that type"
	case reflect.String:
		use = "use string, or a field of that type"
	}
	return fmt.Sprintf("a %v in an interface would be decoded as another type, as its type is not encoded; %s", t, use)
}
