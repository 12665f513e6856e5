package codec

import (
	"math"
	"reflect"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/x448/float16"
)

// A plan encodes and decodes the values of one type like the library, but faster, because it has
// analyzed the type once. It knows the forms in which this package encodes the type, and gives up
// on any other form. The library then reads the data, or says what is wrong with it. So a plan
// never changes a result, which a fuzz test checks.
type plan struct {
	// decode reads one value from the beginning of data into v, which is zero, and returns the rest
	// of data.
	decode func(data []byte, v reflect.Value, by reading) (rest []byte, ok bool)

	// encode appends v. It returns nil if decoding would not return v unchanged. A nil encode means
	// that only the library can encode the type.
	encode func(buf []byte, v reflect.Value) []byte

	// size returns about how many bytes the strings in v need. It is nil for a type without strings
	// outside of slices.
	size func(v reflect.Value) int

	least   int  // bytes that a value needs
	foreign bool // it calls methods that are not of this package
	sliced  bool // values contain slices
	nested  bool // values contain slices of slices
}

type reading struct {
	shared int    // from which size on a string or byte slice shares the memory of data instead of having its own
	binder Binder // of texts, see [Texts]
}

var unshared = reading{shared: math.MaxInt}

// Without a plan, the library encodes and decodes the values.
func planOf(t reflect.Type) *plan {
	if of := formatsOf(t); of != nil && of.writes != nil {
		return of.plan()
	}
	if codesItself(t) && !texts.is(t) {
		return nil
	}
	return planAt(t, maxPlanDepth)
}

// In slices and structs.
const maxPlanDepth = 8

// A slice is allocated for as many elements as data could have. In slices of slices that would
// multiply, so data must be known to have the elements.
func (p *plan) decodeAll(data []byte, v reflect.Value, by reading) bool {
	if p.nested && decoding.Wellformed(data) != nil {
		return false
	}
	rest, ok := p.decode(data, v, by)
	return ok && len(rest) == 0
}

func planAt(t reflect.Type, depth int) *plan {
	if depth == 0 || formatsOf(t) != nil {
		return nil
	}
	if texts.is(t) {
		return &plan{least: 1, decode: decodeText, encode: encodeText}
	}
	if codesItself(t) {
		return &plan{least: 1, decode: decodeLeaf, foreign: true}
	}
	switch t.Kind() {
	case reflect.Bool:
		return &plan{least: 1, decode: decodeBool, encode: encodeBool}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &plan{least: 1, decode: decodeInt, encode: encodeInt}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &plan{least: 1, decode: decodeUint, encode: encodeUint}
	case reflect.Float32, reflect.Float64:
		return &plan{least: 1, decode: decodeFloat}
	case reflect.String:
		return &plan{least: 1, decode: decodeString, encode: encodeString, size: sizeOfString}
	case reflect.Slice:
		return planSlice(t, depth)
	case reflect.Struct:
		return planStruct(t, depth)
	default:
		return nil
	}
}

// The kind of a type with such a well-known method does not matter. A method that the library does
// not use only costs time.
func codesItself(t reflect.Type) bool {
	return slices.ContainsFunc([]reflect.Type{
		reflect.TypeFor[interface{ UnmarshalCBOR([]byte) error }](),
		reflect.TypeFor[interface{ UnmarshalJSON([]byte) error }](),
		reflect.TypeFor[interface{ UnmarshalBinary([]byte) error }](),
		reflect.TypeFor[interface{ UnmarshalText([]byte) error }](),
		reflect.TypeFor[interface{ MarshalCBOR() ([]byte, error) }](),
		reflect.TypeFor[interface{ MarshalJSON() ([]byte, error) }](),
		reflect.TypeFor[interface{ MarshalBinary() ([]byte, error) }](),
		reflect.TypeFor[interface{ MarshalText() ([]byte, error) }](),
	}, reflect.PointerTo(t).Implements)
}

// The item contains no other items. These would count towards the limits of the library for a whole
// value.
func decodeLeaf(data []byte, v reflect.Value, _ reading) ([]byte, bool) {
	if len(data) == 0 {
		return nil, false
	}
	switch data[0] & 0xe0 {
	case MajorArray, MajorMap, MajorTag:
		return nil, false
	}
	rest, err := decoding.UnmarshalFirst(data, v.Addr().Interface())
	return rest, err == nil
}

func decodeBool(data []byte, v reflect.Value, _ reading) ([]byte, bool) {
	if len(data) == 0 || data[0] != simpleFalse && data[0] != simpleTrue {
		return nil, false
	}
	v.SetBool(data[0] == simpleTrue)
	return data[1:], true
}

func encodeBool(buf []byte, v reflect.Value) []byte {
	if v.Bool() {
		return append(buf, simpleTrue)
	}
	return append(buf, simpleFalse)
}

func decodeInt(data []byte, v reflect.Value, _ reading) ([]byte, bool) {
	major, n, rest, ok := Head(data)
	if !ok || n > math.MaxInt64 || major != MajorUint && major != MajorNegative {
		return nil, false
	}
	i := int64(n)
	if major == MajorNegative {
		i = -1 - i
	}
	if v.OverflowInt(i) {
		return nil, false
	}
	v.SetInt(i)
	return rest, true
}

func encodeInt(buf []byte, v reflect.Value) []byte {
	if i := v.Int(); i < 0 {
		return AppendHead(buf, MajorNegative, uint64(-1-i))
	}
	return AppendHead(buf, MajorUint, uint64(v.Int()))
}

func decodeUint(data []byte, v reflect.Value, _ reading) ([]byte, bool) {
	major, n, rest, ok := Head(data)
	if !ok || major != MajorUint || v.OverflowUint(n) {
		return nil, false
	}
	v.SetUint(n)
	return rest, true
}

func encodeUint(buf []byte, v reflect.Value) []byte {
	return AppendHead(buf, MajorUint, v.Uint())
}

func decodeFloat(data []byte, v reflect.Value, _ reading) ([]byte, bool) {
	_, n, rest, ok := Head(data)
	if !ok {
		return nil, false
	}
	var f float64
	switch data[0] {
	case simpleFloat16:
		f = float64(float16.Frombits(uint16(n)).Float32())
	case simpleFloat32:
		f = float64(math.Float32frombits(uint32(n)))
	case simpleFloat64:
		f = math.Float64frombits(n)
	default:
		return nil, false
	}
	if v.OverflowFloat(f) {
		return nil, false
	}
	v.SetFloat(f)
	return rest, true
}

func decodeString(data []byte, v reflect.Value, by reading) ([]byte, bool) {
	s, rest, ok := content(data, MajorText)
	if !ok || !utf8.Valid(s) {
		return nil, false
	}
	if len(s) >= by.shared {
		v.SetString(unsafe.String(&s[0], len(s)))
	} else {
		v.SetString(string(s))
	}
	return rest, true
}

func sizeOfString(v reflect.Value) int { return v.Len() }

func encodeString(buf []byte, v reflect.Value) []byte {
	s := v.String()
	if !utf8.ValidString(s) {
		return nil
	}
	return append(AppendHead(buf, MajorText, uint64(len(s))), s...)
}
