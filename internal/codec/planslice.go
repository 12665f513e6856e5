package codec

import (
	"math"
	"reflect"
	"slices"
	"sync/atomic"
	"unicode/utf8"
)

// A nil slice is null.
func planSlice(t reflect.Type, depth int) *plan {
	if t.Elem() == reflect.TypeFor[byte]() {
		return &plan{least: 1, decode: decodeBytes, encode: encodeBytes, size: sizeOfString}
	}
	element := planAt(t.Elem(), depth-1)
	if element == nil || t.Elem().Kind() == reflect.Uint8 {
		return nil
	}
	p := &plan{least: 1, decode: decodeSlice(t, element), foreign: element.foreign, sliced: true, nested: element.sliced}
	if element.encode != nil {
		p.encode = encodeSlice(element)
	}
	return p
}

func decodeBytes(data []byte, v reflect.Value, by reading) ([]byte, bool) {
	if isNull(data) {
		return data[1:], true
	}
	s, rest, ok := content(data, MajorBytes)
	if !ok {
		return nil, false
	}
	if len(s) >= by.shared {
		v.SetBytes(slices.Clip(s))
		return rest, true
	}
	own := make([]byte, len(s)) // not nil
	copy(own, s)
	v.SetBytes(own)
	return rest, true
}

func encodeBytes(buf []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(buf, simpleNull)
	}
	return append(AppendHead(buf, MajorBytes, uint64(v.Len())), v.Bytes()...)
}

func decodeSlice(t reflect.Type, element *plan) func([]byte, reflect.Value, reading) ([]byte, bool) {
	return func(data []byte, v reflect.Value, by reading) ([]byte, bool) {
		if isNull(data) {
			return data[1:], true
		}
		major, n, rest, ok := Head(data)
		if !ok || major != MajorArray || n > uint64(len(rest)/element.least) || n > maxElements {
			return nil, false
		}
		v.Set(reflect.MakeSlice(t, int(n), int(n)))
		for i := 0; i < int(n) && ok; i++ {
			rest, ok = element.decode(rest, v.Index(i), by)
		}
		return rest, ok
	}
}

func encodeSlice(element *plan) func([]byte, reflect.Value) []byte {
	return func(buf []byte, v reflect.Value) []byte {
		if v.IsNil() {
			return append(buf, simpleNull)
		}
		if v.Len() > maxElements || len(buf) > MaxSize {
			return nil
		}
		buf = AppendHead(buf, MajorArray, uint64(v.Len()))
		for i := range v.Len() {
			if buf = element.encode(buf, v.Index(i)); buf == nil {
				return nil
			}
		}
		return buf
	}
}

// Texts are types whose values are encoded as texts: actor refs. Their package gives the functions,
// so that neither the library nor methods are called. Both functions do what the methods
// MarshalCBOR and UnmarshalCBOR of the types do, followed by the binding.
type Texts struct {
	Is     func(t reflect.Type) bool
	Append func(buf []byte, v reflect.Value) []byte                // appends the text of v; nil: MarshalCBOR says why not
	Set    func(v reflect.Value, text []byte, to Binder) (ok bool) // sets v, which is zero and addressable
}

// SetTexts sets the types that are texts. It is called when the program starts.
func SetTexts(t Texts) { texts.set.Store(&t) }

var texts textTypes

type textTypes struct{ set atomic.Pointer[Texts] }

func (t *textTypes) is(typ reflect.Type) bool {
	set := t.set.Load()
	return set != nil && set.Is(typ)
}

// encodeText reserves the head of a text of usual length, and moves the text if it has another.
func encodeText(buf []byte, v reflect.Value) []byte {
	const usual = 2 // bytes of a head with a number up to 255
	begin := len(buf)
	buf = texts.set.Load().Append(append(buf, make([]byte, usual)...), v)
	if buf == nil {
		return nil
	}
	text := buf[begin+usual:]
	if !utf8.Valid(text) {
		return nil
	}
	switch size := len(text); {
	case size < 24:
		return append(AppendHead(buf[:begin], MajorText, uint64(size)), text...) // to the left, in order
	case size > math.MaxUint8:
		return append(AppendHead(buf[:begin:begin], MajorText, uint64(size)), text...)
	default:
		AppendHead(buf[:begin], MajorText, uint64(size))
		return buf
	}
}

func decodeText(data []byte, v reflect.Value, by reading) ([]byte, bool) {
	text, rest, ok := content(data, MajorText)
	if !ok || !utf8.Valid(text) {
		return nil, false
	}
	return rest, texts.set.Load().Set(v, text, by.binder)
}
