package codec

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/fxamacker/cbor/v2"
)

// The library cannot call formats. So a value that contains values with formats is encoded and
// decoded part by part: the library does what has none.

var partly sync.Map // from reflect.Type to bool

// hasFormats reports whether values of type t contain values of types with formats, or are such.
func hasFormats(t reflect.Type) bool { return formatsOf(t) != nil || hasFormatsInside(t) }

func hasFormatsInside(t reflect.Type) bool {
	if len(registered().formats) == 0 {
		return false
	}
	if known, ok := partly.Load(t); ok {
		return known.(bool) // only bools are stored
	}
	has := findFormats(t, map[reflect.Type]bool{})
	partly.Store(t, has)
	return has
}

func findFormats(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || codesItself(t) {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Pointer, reflect.Map:
		return formatsOf(t.Elem()) != nil || findFormats(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if isEncoded(f) && (formatsOf(f.Type) != nil || findFormats(f.Type, seen)) {
				return true
			}
		}
	}
	return false
}

// encodeParts appends v, over which a walk has gone: it does not contain itself.
func encodeParts(buf *bytes.Buffer, v reflect.Value) *fault {
	if of := formatsOf(v.Type()); of.encodes(v) {
		if err := of.append(buf, v); err != nil {
			return &fault{err: err}
		}
		return nil
	}
	if !hasFormatsInside(v.Type()) {
		if err := encoding.MarshalToBuffer(v.Interface(), buf); err != nil {
			return &fault{err: err}
		}
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return encodeParts(buf, v.Elem())
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Array || !v.IsNil() {
			return encodeElements(buf, v)
		}
	case reflect.Map:
		if !v.IsNil() {
			return encodeEntries(buf, v)
		}
	default:
		return encodeFields(buf, v)
	}
	buf.WriteByte(simpleNull)
	return nil
}

func writeHead(buf *bytes.Buffer, major byte, n int) {
	buf.Write(AppendHead(buf.AvailableBuffer(), major, uint64(n)))
}

func encodeElements(buf *bytes.Buffer, v reflect.Value) *fault {
	writeHead(buf, MajorArray, v.Len())
	for i := range v.Len() {
		if f := encodeParts(buf, v.Index(i)); f != nil {
			return f.at("[%d]", i)
		}
	}
	return nil
}

// A part is a key and its value.
type part struct {
	key   []byte
	value reflect.Value
	where string
}

func encodePairs(buf *bytes.Buffer, all []part) *fault {
	slices.SortFunc(all, func(a, b part) int { return bytes.Compare(a.key, b.key) })
	writeHead(buf, MajorMap, len(all))
	for _, p := range all {
		buf.Write(p.key)
		if f := encodeParts(buf, p.value); f != nil {
			return f.at("%s", p.where)
		}
	}
	return nil
}

func encodeEntries(buf *bytes.Buffer, v reflect.Value) *fault {
	all := make([]part, 0, v.Len())
	for entry := v.MapRange(); entry.Next(); {
		where := fmt.Sprintf("[%q]", short(entry.Key()))
		key, err := bytesOf(entry.Key())
		if err != nil {
			return (&fault{err: err}).at("%s", where)
		}
		all = append(all, part{key, entry.Value(), where})
	}
	return encodePairs(buf, all)
}

func encodeFields(buf *bytes.Buffer, v reflect.Value) *fault {
	l := layoutOf(v.Type())
	if l.array {
		writeHead(buf, MajorArray, len(l.fields))
		for i := range l.fields {
			at, _ := v.FieldByIndexErr(l.fields[i].index)
			if f := encodeParts(buf, at); f != nil {
				return f.at(".%s", l.fields[i].name)
			}
		}
		return nil
	}
	all := make([]part, 0, len(l.fields))
	for i := range l.fields {
		field := &l.fields[i]
		value, err := v.FieldByIndexErr(field.index)
		if err != nil || isLeftOut(v.Type().FieldByIndex(field.index), value) { // in a nil embedded struct
			continue
		}
		all = append(all, part{field.key(), value, "." + field.name})
	}
	return encodePairs(buf, all)
}

func isLeftOut(f reflect.StructField, v reflect.Value) bool {
	options := tagOf(f)
	return strings.Contains(options, ",omitempty") && isEmpty(v) || strings.Contains(options, ",omitzero") && v.IsZero()
}

func (f *namedField) key() []byte {
	switch {
	case !f.numeric:
		return append(AppendHead(nil, MajorText, uint64(len(f.name))), f.name...)
	case f.number < 0:
		return AppendHead(nil, MajorNegative, uint64(-1-f.number))
	}
	return AppendHead(nil, MajorUint, uint64(f.number)) //nolint:gosec // it is not negative
}

// decodeParts decodes data, one item, into v, which is zero.
func decodeParts(mode cbor.DecMode, data []byte, v reflect.Value, depth int) *fault {
	if depth == 0 {
		return &fault{err: errDepth}
	}
	if isFormatted(data, v.Type()) {
		name, encoded, ok := cutFormat(data)
		if !ok {
			return broken("a malformed item of a codec")
		}
		return asFault(decodeFormat(name, encoded, v))
	}
	if isNull(data) || !hasFormatsInside(v.Type()) && !readsFormatted(v.Type(), data) {
		return asFault(unmarshalPlain(mode, data, v.Addr().Interface()))
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		return decodeParts(mode, data, v.Elem(), depth-1)
	}
	major, n, rest, ok := Head(data)
	p := &parting{mode: mode, rest: rest, n: int(min(n, maxElements+1)), depth: depth - 1}
	if !ok || p.n > min(mode.DecOptions().MaxArrayElements, len(rest)) {
		return broken("a malformed %v", v.Type())
	}
	switch kind := v.Kind(); {
	case kind == reflect.Slice && major == MajorArray:
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return p.elements(v)
	case kind == reflect.Array && major == MajorArray:
		return p.positions(func(i int) reflect.Value { return itemAt(v, i) })
	case kind == reflect.Map && major == MajorMap:
		return p.entries(v)
	case kind == reflect.Struct && major == MajorMap:
		return p.named(v)
	case kind == reflect.Struct && major == MajorArray && layoutOf(v.Type()).array:
		return p.positions(func(i int) reflect.Value { return fieldAt(v, layoutOf(v.Type()), i) })
	}
	return broken("an item of another kind cannot be a %v", v.Type())
}

func asFault(err error) *fault {
	if err == nil {
		return nil
	}
	return &fault{err: err}
}

// A parting is in the middle of an array or a map.
type parting struct {
	mode  cbor.DecMode
	rest  []byte
	n     int // how many elements or pairs it has
	depth int
}

func (p *parting) next() (item []byte, ok bool) {
	rest, ok := skip(p.rest, p.depth)
	if !ok {
		return nil, false
	}
	item = p.rest[:len(p.rest)-len(rest)]
	p.rest = rest
	return item, true
}

var errTorn = errors.New("an array or a map is not complete")

// into decodes the next item.
func (p *parting) into(v reflect.Value) *fault {
	item, ok := p.next()
	if !ok {
		return &fault{err: errTorn}
	}
	return decodeParts(p.mode, item, v, p.depth)
}

func (p *parting) end() *fault {
	if len(p.rest) > 0 {
		return broken("bytes follow the value")
	}
	return nil
}

func (p *parting) elements(v reflect.Value) *fault {
	for i := range p.n {
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		if f := p.into(v.Index(i)); f != nil {
			return f.at("[%d]", i)
		}
	}
	return p.end()
}

func itemAt(v reflect.Value, i int) reflect.Value {
	if i < v.Len() {
		return v.Index(i)
	}
	return reflect.Value{}
}

// positions decodes the elements of an array. Those that have no place are ignored.
func (p *parting) positions(at func(i int) reflect.Value) *fault {
	for i := range p.n {
		to := at(i)
		if !to.IsValid() {
			if _, ok := p.next(); !ok {
				return &fault{err: errTorn}
			}
			continue
		}
		if f := p.into(to); f != nil {
			return f.at("[%d]", i)
		}
	}
	return p.end()
}

func (p *parting) entries(v reflect.Value) *fault {
	v.Set(reflect.MakeMap(v.Type()))
	for range p.n {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		if f := p.into(key); f != nil {
			return f
		}
		if v.MapIndex(key).IsValid() {
			return broken("the key %q is there twice", short(key))
		}
		if f := p.into(value); f != nil {
			return f.at("[%q]", short(key))
		}
		v.SetMapIndex(key, value)
	}
	return p.end()
}

// named decodes a struct from a map. Fields that the struct does not have are ignored.
func (p *parting) named(v reflect.Value) *fault {
	l, seen := layoutOf(v.Type()), map[*namedField]bool{}
	for range p.n {
		key, ok := p.next()
		if !ok {
			return &fault{err: errTorn}
		}
		field := l.find(key)
		if field == nil {
			if _, ok := p.next(); !ok {
				return &fault{err: errTorn}
			}
			continue
		}
		if seen[field] {
			return broken("the field %s is there twice", field.name)
		}
		seen[field] = true
		if f := p.into(within(v, field.index)); f != nil {
			return f.at(".%s", field.name)
		}
	}
	return p.end()
}

func fieldAt(v reflect.Value, l *layout, i int) reflect.Value {
	if i < len(l.fields) {
		return within(v, l.fields[i].index)
	}
	return reflect.Value{}
}

// within returns a field, and allocates the embedded structs around it.
func within(v reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}

// Survives reports a value of a type with a format that the format decodes as another one, which
// tests look for. Generated protobuf messages are left out: for them, nil and empty are the same.
func Survives(v any) error {
	t := reflect.TypeOf(v)
	if formatsOf(t) == nil || implements(indirect(t), []reflect.Type{reflect.TypeFor[interface{ ProtoMessage() }]()}) {
		return nil
	}
	data, err := Marshal(v)
	if err != nil {
		return err
	}
	back := reflect.New(t)
	if err := Unmarshal(data, back.Interface()); err != nil {
		return err
	}
	if f := sameParts(reflect.ValueOf(v), back.Elem()); f != nil {
		return f.in(t)
	}
	return nil
}
