package codec

import (
	"math"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/x448/float16"
)

// A plan encodes and decodes the values of one type as the library does, but quicker, as it has
// looked at the type once. It knows the forms in which this package encodes the type, and gives
// up where data has another one: the library reads all that is legal, and says what is wrong
// with the rest. So a plan changes nothing; a fuzz test holds it to that.
type plan struct {
	// decode reads one value from the beginning of data into v, which is zero, and returns what
	// follows it.
	decode func(data []byte, v reflect.Value) (rest []byte, ok bool)

	// encode appends v, and returns nil unless it comes back from decoding as it is. It is nil
	// where only the library can encode.
	encode func(buf []byte, v reflect.Value) []byte

	least   int  // bytes that a value needs
	foreign bool // it has methods called that are not of this package
	sliced  bool // there are slices in it
	nested  bool // there are slices in slices in it
}

// planOf returns the plan of a type, or nil: then the library encodes and decodes its values.
func planOf(t reflect.Type) *plan {
	if codesItself(t) {
		return nil
	}
	return planAt(t, maxPlanDepth)
}

// maxPlanDepth is how deep slices and structs with a plan may be nested.
const maxPlanDepth = 8

// decodeAll decodes all of data. A slice gets room for as many elements as data could have; in
// slices of slices that would be so again and again, so data must be known to have them.
func (p *plan) decodeAll(data []byte, v reflect.Value) bool {
	if p.nested && decoding.Wellformed(data) != nil {
		return false
	}
	rest, ok := p.decode(data, v)
	return ok && len(rest) == 0
}

func planAt(t reflect.Type, depth int) *plan {
	if depth == 0 {
		return nil
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
		return &plan{least: 1, decode: decodeString, encode: encodeString}
	case reflect.Slice:
		return planSlice(t, depth)
	case reflect.Struct:
		return planStruct(t, depth)
	default:
		return nil
	}
}

// codesItself reports whether a type has any of the methods by which types are known to encode
// and decode themselves; then its kind says nothing. One that the library does not heed costs
// time alone.
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

// decodeLeaf leaves an item to the library that has no other in it: those count for the limits
// that the library puts on a whole value.
func decodeLeaf(data []byte, v reflect.Value) ([]byte, bool) {
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

func decodeBool(data []byte, v reflect.Value) ([]byte, bool) {
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

func decodeInt(data []byte, v reflect.Value) ([]byte, bool) {
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

func decodeUint(data []byte, v reflect.Value) ([]byte, bool) {
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

func decodeFloat(data []byte, v reflect.Value) ([]byte, bool) {
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

func decodeString(data []byte, v reflect.Value) ([]byte, bool) {
	s, rest, ok := content(data, MajorText)
	if !ok || !utf8.Valid(s) {
		return nil, false
	}
	v.SetString(string(s))
	return rest, true
}

func encodeString(buf []byte, v reflect.Value) []byte {
	s := v.String()
	if !utf8.ValidString(s) {
		return nil
	}
	return append(AppendHead(buf, MajorText, uint64(len(s))), s...)
}
