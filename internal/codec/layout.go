package codec

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Another version of the program may have encoded the type with other fields.
type layout struct {
	leaf   bool // it has encoding methods of its own
	array  bool // a struct that is an array
	fields []namedField
}

// A promoted field belongs to the outer struct.
type namedField struct {
	name    string
	number  int64 // if numeric
	numeric bool  // its key is a number, and name is that number as a text
	tagged  bool
	index   []int
	typ     reflect.Type
}

var layouts sync.Map // from reflect.Type to *layout

func layoutOf(t reflect.Type) *layout {
	if l, ok := layouts.Load(t); ok {
		return l.(*layout) // only layouts are stored
	}
	l := &layout{leaf: codesItself(t)}
	if t.Kind() == reflect.Struct && !l.leaf {
		array, known := isArray(t)
		l.array = array && known
		l.fields = dominant(allFields(t))
	}
	layouts.Store(t, l)
	return l
}

// The key is the first item of data. Like the library it prefers the exact name to one with other
// capitals.
func (l *layout) find(data []byte) *namedField {
	name, _, isText := content(data, MajorText)
	number, isNumber := numberOf(data)
	var similar *namedField
	for i := range l.fields {
		f := &l.fields[i]
		switch {
		case isNumber && f.numeric && f.number == number, isText && !f.numeric && f.name == string(name):
			return f
		case isText && !f.numeric && similar == nil && len(name) == len(f.name) && strings.EqualFold(f.name, string(name)):
			similar = f
		}
	}
	return similar
}

func numberOf(data []byte) (n int64, ok bool) {
	major, head, _, ok := Head(data)
	if n = int64(head); !ok || n < 0 { //nolint:gosec // an overflow is negative
		return 0, false
	}
	switch major {
	case MajorUint:
		return n, true
	case MajorNegative:
		return -1 - n, true
	}
	return 0, false
}

// numeric says that the key is the name as a number.
func nameOf(f reflect.StructField) (name string, numeric bool) {
	name, options, _ := strings.Cut(tagOf(f), ",")
	if name == "" {
		name = f.Name
	}
	return name, slices.Contains(strings.Split(options, ","), "keyasint")
}

type embedding struct {
	typ   reflect.Type
	index []int
}

// The fields include those of embedded structs, level by level. Like the library it ignores the
// fields of a struct that is embedded twice at one level, or again at a deeper one.
func allFields(t reflect.Type) (all []namedField) {
	seen := map[reflect.Type]bool{}
	for level := []embedding{{typ: t}}; len(level) > 0; {
		times := map[reflect.Type]int{}
		for _, e := range level {
			times[e.typ]++
		}
		var next []embedding
		for _, e := range level {
			if times[e.typ] > 1 || seen[e.typ] {
				continue
			}
			seen[e.typ] = true
			fields, embedded := ownFields(e)
			all, next = append(all, fields...), append(next, embedded...)
		}
		level = next
	}
	return all
}

func ownFields(in embedding) (fields []namedField, embedded []embedding) {
	for f := range in.typ.Fields() {
		if !isEncoded(f) {
			continue
		}
		index := append(slices.Clone(in.index), f.Index[0])
		tag, _, _ := strings.Cut(tagOf(f), ",")
		if of := indirect(f.Type); f.Anonymous && of.Kind() == reflect.Struct && tag == "" {
			embedded = append(embedded, embedding{of, index})
			continue
		}
		field := namedField{tagged: tagOf(f) != "", index: index, typ: f.Type}
		field.name, field.numeric = nameOf(f)
		if n, err := strconv.Atoi(field.name); field.numeric && err == nil {
			field.name, field.number = strconv.Itoa(n), int64(n)
		}
		fields = append(fields, field)
	}
	return fields, embedded
}

// Of several fields with one key it is the one at the highest level, or else the only one with a
// tag, or else none.
func dominant(all []namedField) (fields []namedField) {
	type key struct {
		name    string
		numeric bool
	}
	of := map[key][]namedField{}
	for _, f := range all {
		of[key{f.name, f.numeric}] = append(of[key{f.name, f.numeric}], f)
	}
	for _, same := range of {
		slices.SortStableFunc(same, func(a, b namedField) int { return rank(a) - rank(b) })
		if len(same) == 1 || rank(same[0]) < rank(same[1]) {
			fields = append(fields, same[0])
		}
	}
	slices.SortFunc(fields, func(a, b namedField) int { return slices.CompareFunc(a.index, b.index, cmp.Compare[int]) })
	return fields
}

// The least of the fields with one key is encoded.
func rank(f namedField) int {
	if f.tagged {
		return 2 * len(f.index)
	}
	return 2*len(f.index) + 1
}
