package codec

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/fxamacker/cbor/v2"

	"github.com/understudy-go/understudy/internal/guard"
)

// The library refuses an array for a struct if the two have different lengths. The data is then
// decoded again with all such arrays adapted to their structs: a program ignores the fields that a
// newer one has appended, and has zero for those that an older one does not know.
func unmarshalFitting(mode cbor.DecMode, data []byte, v any) error {
	into := reflect.ValueOf(v)
	if into.Kind() != reflect.Pointer || into.IsNil() {
		return mode.Unmarshal(data, v) // which says so
	}
	if into = into.Elem(); bytes.Contains(data, formatted) || hasFormatsInside(into.Type()) {
		return decodeParts(mode, data, into, MaxDepth).inside()
	}
	return unmarshalPlain(mode, data, v)
}

func unmarshalPlain(mode cbor.DecMode, data []byte, v any) error {
	err := mode.Unmarshal(data, v)
	if err == nil {
		return nil
	}
	if _, mismatch := errors.AsType[*cbor.UnmarshalTypeError](err); !mismatch {
		return err
	}
	into := reflect.ValueOf(v).Elem()
	adapted, other := fit(into.Type(), data)
	if other != nil {
		return other
	}
	if adapted == nil {
		return err
	}
	into.SetZero()
	return mode.Unmarshal(adapted, v)
}

// fit returns nil if it cannot adapt data, or need not.
func fit(t reflect.Type, data []byte) (adapted []byte, err error) {
	f := fitting{out: make([]byte, 0, len(data)), limit: maxFitted(len(data))}
	rest, ok := f.value(t, data, MaxDepth)
	if f.over {
		return nil, fmt.Errorf("the value of %d bytes lacks so many fields of %v that with them it has more than %d", len(data), t, f.limit)
	}
	if !ok || len(rest) > 0 || !f.changed {
		return nil, nil
	}
	return f.out, nil
}

// Without a bound, a short message of empty arrays could become very large: each null costs a byte
// and some 50 ns.
func maxFitted(size int) int { return min(8*size+64<<10, MaxSize) }

type fitting struct {
	out     []byte
	limit   int  // of the bytes in out
	over    bool // out would have more
	changed bool
	parted  bool // it ended at what a format has encoded
}

// readsFormatted reports whether a part of data, or all of it, is what a format has encoded, and is
// decoded as t or a part of t. It is not in a field that t does not have, nor text or bytes.
func readsFormatted(t reflect.Type, data []byte) bool {
	if !bytes.Contains(data, formatted) {
		return false
	}
	f := fitting{out: make([]byte, 0, len(data)), limit: maxFitted(len(data))}
	f.value(t, data, MaxDepth)
	return f.parted
}

// ok is false if it cannot.
func (f *fitting) value(t reflect.Type, data []byte, depth int) (rest []byte, ok bool) {
	t = indirect(t)
	l := layoutOf(t)
	major, n, _, ok := Head(data)
	switch {
	case !ok || depth == 0:
		return nil, false
	case isFormatted(data, t):
		f.parted = true
		return nil, false
	case l.leaf:
	case t.Kind() == reflect.Struct && major == MajorArray && l.array:
		return f.fields(l, data, depth)
	case t.Kind() == reflect.Struct && major == MajorMap:
		return f.named(l, data, depth)
	case t.Kind() == reflect.Map && major == MajorMap:
		return f.items(data, 2*min(n, maxElements+1), depth, func(i uint64) reflect.Type {
			if i%2 == 0 {
				return t.Key()
			}
			return t.Elem()
		})
	case (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && major == MajorArray:
		return f.items(data, n, depth, func(uint64) reflect.Type { return t.Elem() })
	}
	return f.copy(data, depth)
}

func (f *fitting) copy(data []byte, depth int) (rest []byte, ok bool) {
	if rest, ok = skip(data, depth); ok {
		f.out = append(f.out, data[:len(data)-len(rest)]...)
	}
	return rest, ok
}

// of returns the type of each item.
func (f *fitting) items(data []byte, n uint64, depth int, of func(i uint64) reflect.Type) (rest []byte, ok bool) {
	_, _, rest, ok = Head(data)
	f.out = append(f.out, data[:len(data)-len(rest)]...)
	for i := uint64(0); i < n && ok; i++ {
		rest, ok = f.value(of(i), rest, depth-1)
	}
	return rest, ok
}

func (f *fitting) named(l *layout, data []byte, depth int) (rest []byte, ok bool) {
	_, n, rest, ok := Head(data)
	f.out = append(f.out, data[:len(data)-len(rest)]...)
	for ; n > 0 && ok; n-- {
		key := rest
		if rest, ok = f.copy(rest, depth-1); !ok {
			return nil, false
		}
		if field := l.find(key); field != nil {
			rest, ok = f.value(field.typ, rest, depth-1)
		} else {
			rest, ok = f.copy(rest, depth-1)
		}
	}
	return rest, ok
}

// The copy has as many fields as the struct has.
func (f *fitting) fields(l *layout, data []byte, depth int) (rest []byte, ok bool) {
	_, n, rest, ok := Head(data)
	have := uint64(len(l.fields))
	f.changed = f.changed || n != have
	f.out = AppendHead(f.out, MajorArray, have)
	for i := uint64(0); i < have && ok; i++ {
		if i < n {
			rest, ok = f.value(l.fields[i].typ, rest, depth-1)
		} else {
			ok = f.missing(l.fields[i].typ)
		}
	}
	if !ok || n <= have {
		return rest, ok
	}
	return skipItems(rest, n-have, maxSkipDepth)
}

func (f *fitting) missing(t reflect.Type) bool {
	data := zeroOf(t)
	if f.over = len(f.out)+len(data) > f.limit; f.over {
		return false
	}
	f.out = append(f.out, data...)
	return data != nil
}

var zeros sync.Map // from reflect.Type to []byte

// zeroOf is null, or the encoding of the zero value for a type whose own method refuses null. It is
// nil if a method fails at the zero value.
func zeroOf(t reflect.Type) []byte {
	if data, ok := zeros.Load(t); ok {
		return data.([]byte) // only byte slices are stored
	}
	data := []byte{simpleNull}
	if v := reflect.New(t); unmarshalled(data, v) != nil || !v.Elem().IsZero() {
		data, _ = encoding.Marshal(reflect.Zero(t).Interface())
	}
	zeros.Store(t, data)
	return data
}

// unmarshalled calls methods of values.
func unmarshalled(data []byte, v reflect.Value) error {
	return guard.Run(func() error { return decoding.Unmarshal(data, v.Interface()) })
}
