package codec

import (
	"reflect"
	"slices"
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
