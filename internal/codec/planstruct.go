package codec

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

type plannedField struct {
	*plan
	index int
	key   []byte // its name as CBOR; nil in a struct that is an array
}

// The struct always has all its fields, in order.
func planStruct(t reflect.Type, depth int) *plan {
	array, ok := isArray(t)
	if !ok {
		return nil
	}
	fields, ok := planFields(t, depth)
	if !ok || len(fields) == 0 && t.NumField() > 0 { // a value would be encoded as empty
		return nil
	}
	major := MajorMap
	if array {
		major = MajorArray
		for i := range fields {
			fields[i].key = nil
		}
	} else {
		slices.SortFunc(fields, func(a, b plannedField) int { return bytes.Compare(a.key, b.key) })
	}
	p := &plan{least: 1, decode: decodeStruct(fields, major)}
	for _, f := range fields {
		p.least += len(f.key) + f.least
		p.foreign = p.foreign || f.foreign
		p.sliced = p.sliced || f.sliced
		p.nested = p.nested || f.nested
	}
	if !slices.ContainsFunc(fields, func(f plannedField) bool { return f.encode == nil }) {
		p.encode = encodeStruct(fields, major)
	}
	p.size = sizeOfStruct(fields)
	if !p.foreign && !p.proven(t) {
		return nil
	}
	return p
}

// proven compares what becomes of a zero value with the library. It must not be called for a struct
// with foreign methods, because it would call them.
func (p *plan) proven(t reflect.Type) bool {
	zero := reflect.New(t).Elem()
	data, err := encoding.Marshal(zero.Interface())
	return err == nil && p.decodeAll(data, zero, unshared) && (p.encode == nil || p.encodes(zero, data))
}

func (p *plan) encodes(v reflect.Value, data []byte) bool {
	return bytes.Equal(data, p.encode(nil, v))
}

// ok is false if a plan cannot encode the struct. A plan supports no embedded structs, no two
// fields of one name, and no fields with options, which may be left out or have numbers for names.
func planFields(t reflect.Type, depth int) (fields []plannedField, ok bool) {
	names := map[string]bool{}
	for f := range t.Fields() {
		if f.Anonymous || isHiddenFromJSON(f) { // the second is refused by the validator
			return nil, false
		}
		if !f.IsExported() || tagOf(f) == "-" {
			continue
		}
		p := planAt(f.Type, depth-1)
		if p == nil || strings.Contains(tagOf(f), ",") {
			return nil, false
		}
		name, _ := nameOf(f)
		if names[name] || !utf8.ValidString(name) {
			return nil, false
		}
		names[name] = true
		fields = append(fields, plannedField{plan: p, index: f.Index[0], key: must(encoding.Marshal(name))})
	}
	return fields, true
}

func tagOf(f reflect.StructField) string {
	if tag := f.Tag.Get("cbor"); tag != "" {
		return tag
	}
	return f.Tag.Get("json")
}

// ok is false if the struct has options that are not known here.
func isArray(t reflect.Type) (array, ok bool) {
	f, there := t.FieldByName("_")
	if !there {
		return false, true
	}
	switch f.Tag.Get("cbor") {
	case ",toarray":
		return true, true
	case "", "-":
		return false, true
	}
	return false, false
}

func decodeStruct(fields []plannedField, container byte) func([]byte, reflect.Value, reading) ([]byte, bool) {
	return func(data []byte, v reflect.Value, by reading) ([]byte, bool) {
		major, n, rest, ok := Head(data)
		known := uint64(len(fields))
		if !ok || major != container || n < known || n > known && container != MajorArray {
			return nil, false
		}
		for i := range fields {
			f := &fields[i]
			if rest, ok = bytes.CutPrefix(rest, f.key); !ok {
				return nil, false
			}
			if rest, ok = f.decode(rest, v.Field(f.index), by); !ok {
				return nil, false
			}
		}
		return skipItems(rest, n-known, maxSkipDepth) // fields that a newer program has appended
	}
}

func encodeStruct(fields []plannedField, container byte) func([]byte, reflect.Value) []byte {
	return func(buf []byte, v reflect.Value) []byte {
		buf = AppendHead(buf, container, uint64(len(fields)))
		for i := range fields {
			f := &fields[i]
			if buf = f.encode(append(buf, f.key...), v.Field(f.index)); buf == nil {
				return nil
			}
		}
		return buf
	}
}

func sizeOfStruct(fields []plannedField) func(reflect.Value) int {
	sized := slices.DeleteFunc(slices.Clone(fields), func(f plannedField) bool { return f.size == nil })
	if len(sized) == 0 {
		return nil
	}
	return func(v reflect.Value) (sum int) {
		for i := range sized {
			sum += sized[i].size(v.Field(sized[i].index))
		}
		return sum
	}
}
