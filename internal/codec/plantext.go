package codec

import (
	"math"
	"reflect"
	"sync/atomic"
	"unicode/utf8"
)

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
