package codec

import (
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"
)

// A shape says which values of the type decoding returns unchanged, and how to find out.
type shape struct {
	typ reflect.Type

	// check finds the part of a value that decoding would refuse or change. It is nil if no value
	// of the type has such a part.
	check func(w *walk, v reflect.Value) *fault

	least  int // bytes that a value needs
	height int // levels of arrays and maps in a value, where check is nil

	// unproven says that check cannot find everything, because methods of the user are called, or
	// because the library has rules of its own. The encoded value is then decoded again and
	// compared.
	unproven bool

	// opaque says that the type contains values of trusted types, whose depth is not known.
	opaque bool

	// parted says that the type has a format, or contains one that has.
	parted bool

	done bool // it is no longer being made
}

var shapes sync.Map // from reflect.Type to *shape

func shapeOf(t reflect.Type) *shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*shape) // only shapes are stored
	}
	made := shaper{}
	s := made.shape(t)
	s.unproven, s.opaque = made.any(func(s *shape) bool { return s.unproven }), made.any(func(s *shape) bool { return s.opaque })
	s.parted = hasFormats(t)
	known, _ := shapes.LoadOrStore(t, s)
	return known.(*shape)
}

// Types may contain themselves.
type shaper map[reflect.Type]*shape

func (all shaper) any(is func(*shape) bool) bool {
	for _, s := range all {
		if is(s) {
			return true
		}
	}
	return false
}

func (all shaper) shape(t reflect.Type) *shape {
	if s := all[t]; s != nil {
		return s
	}
	s := &shape{typ: t, least: 1}
	all[t] = s
	defer func() { s.done = true }()
	switch {
	case isTrusted(t), formatsOf(t) != nil && formatsOf(t).writes != nil:
		s.opaque = true
		return s
	case t == reflect.TypeFor[time.Time]():
		s.check = checkTime
		return s
	case encodesItself(t):
		s.unproven = true
		return s
	case decodesItself(t):
		s.unproven = true
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
	case reflect.String:
		s.check = checkString
	case reflect.Slice:
		all.slice(s)
	case reflect.Array:
		all.array(s)
	case reflect.Map:
		all.mapping(s)
	case reflect.Pointer:
		all.pointer(s)
	case reflect.Struct:
		all.structure(s)
	case reflect.Interface:
		s.check = checkInterface
		if t.NumMethod() > 0 {
			s.check = checkNilInterface
		}
	default:
		s.check = refuse("a %v cannot be encoded; leave it out with the tag `cbor:\"-\"`", t)
	}
	return s
}

func refuse(format string, args ...any) func(*walk, reflect.Value) *fault {
	f := broken(format, args...)
	return func(*walk, reflect.Value) *fault { return &fault{err: f.err} }
}

var trusted atomic.Pointer[func(reflect.Type) bool]

// Trust sets the function that reports which types keep the rule of this package by their own
// methods: they decode every value that they encode, and refuse the others. Their values are not
// decoded again for comparison.
func Trust(is func(t reflect.Type) bool) { trusted.Store(&is) }

func isTrusted(t reflect.Type) bool {
	is := trusted.Load()
	return is != nil && (*is)(t)
}

// The library calls a method of such a type, or supports it directly. Of math/big it supports Int;
// Rat and Float have no exported fields and would be encoded as empty values.
func encodesItself(t reflect.Type) bool {
	return implements(t, []reflect.Type{
		reflect.TypeFor[interface{ MarshalCBOR() ([]byte, error) }](),
		reflect.TypeFor[interface{ MarshalBinary() ([]byte, error) }](),
	}) || t.PkgPath() == reflect.TypeFor[cbor.Tag]().PkgPath() || t == reflect.TypeFor[big.Int]()
}

func decodesItself(t reflect.Type) bool {
	return implements(t, []reflect.Type{
		reflect.TypeFor[interface{ UnmarshalCBOR([]byte) error }](),
		reflect.TypeFor[interface{ UnmarshalBinary([]byte) error }](),
	})
}

// Pointers to the values count too.
func implements(t reflect.Type, of []reflect.Type) bool {
	if t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer {
		return false // it depends on the value in it
	}
	return slices.ContainsFunc(of, reflect.PointerTo(t).Implements)
}

func (all shaper) slice(s *shape) {
	if s.typ.Elem().Kind() == reflect.Uint8 { // bytes
		s.check = checkBytes
		s.unproven = s.unproven || s.typ.Elem() != reflect.TypeFor[byte]()
		return
	}
	element := all.shape(s.typ.Elem())
	s.check = func(w *walk, v reflect.Value) *fault { return w.elements(element, v) }
}

func (all shaper) array(s *shape) {
	element := all.shape(s.typ.Elem())
	n := s.typ.Len()
	if n <= maxElements && element.isSound() {
		s.least, s.height = 1+n*element.least, 1+element.height
		return
	}
	s.check = func(w *walk, v reflect.Value) *fault { return w.elements(element, v) }
}

func (s *shape) isSound() bool { return s.done && s.check == nil }

func (all shaper) mapping(s *shape) {
	key, value := all.shape(s.typ.Key()), all.shape(s.typ.Elem())
	s.unproven = s.unproven || !isPlainKey(s.typ.Key())
	s.check = func(w *walk, v reflect.Value) *fault { return w.entries(key, value, v) }
}

// Different keys are then encoded as different bytes, and decoded unchanged.
func isPlainKey(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return !encodesItself(t) && !decodesItself(t)
	}
	return false
}

func (all shaper) pointer(s *shape) {
	to := all.shape(s.typ.Elem())
	s.check = func(w *walk, v reflect.Value) *fault { return w.behind(to, v) }
}

type shapedField struct {
	*shape
	index int
	name  string
}

func (all shaper) structure(s *shape) {
	var checked []shapedField
	names := map[string]bool{}
	height, sound := 0, true
	for f := range s.typ.Fields() {
		if isHiddenFromJSON(f) {
			s.check = refuse("field %s of %v has the tag `json:\"-\"`, by which it would be left out; add the tag `cbor:%q` to keep it, or `cbor:\"-\"` to leave it out", f.Name, s.typ, f.Name)
			return
		}
		if !isEncoded(f) {
			continue
		}
		field := all.shape(f.Type)
		options := tagOf(f)
		name, _, _ := strings.Cut(options, ",")
		switch {
		case f.Anonymous && name == "" && indirect(f.Type).Kind() == reflect.Struct:
			// Its fields count as those of this struct: which of them are encoded is for the
			// library to know.
			sound = false
		case strings.Contains(options, ",keyasint"):
			number, err := strconv.Atoi(name)
			sound = sound && err == nil
			name = strconv.Itoa(number)
		case name == "":
			name = f.Name
		}
		if strings.Contains(options, ",omitzero") {
			sound = sound && !asksIsZero(f.Type)
		}
		sound = sound && utf8.ValidString(name) && (name == "" || !names[name])
		names[name] = true
		if !strings.Contains(options, ",omit") {
			s.least += 1 + len(name) + field.least
		}
		height = max(height, field.height)
		checked = append(checked, shapedField{shape: field, index: f.Index[0], name: f.Name})
	}
	s.unproven = s.unproven || !sound
	if len(checked) > maxElements {
		s.check = refuse("the struct has more than %d fields", maxElements)
		return
	}
	s.height = 1 + height
	if lost := forgotten(s.typ); len(checked) == 0 && len(lost) > 0 {
		s.check = checkForgotten(lost)
		return
	}
	if !slices.ContainsFunc(checked, func(f shapedField) bool { return !f.isSound() }) {
		return
	}
	s.check = func(w *walk, v reflect.Value) *fault { return w.fields(checked, s.least, v) }
}

// These fields are not encoded, although no tag leaves them out.
func forgotten(t reflect.Type) (fields []int) {
	for f := range t.Fields() {
		if !isEncoded(f) && tagOf(f) != "-" {
			fields = append(fields, f.Index[0])
		}
	}
	return fields
}

func asksIsZero(t reflect.Type) bool {
	_, of := t.MethodByName("IsZero")
	_, ofPointer := reflect.PointerTo(t).MethodByName("IsZero")
	return (of || ofPointer) && t != reflect.TypeFor[time.Time]()
}

func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// A field that is hidden from JSON, for instance from browsers, is not meant to be lost here.
func isHiddenFromJSON(f reflect.StructField) bool {
	return f.IsExported() && f.Tag.Get("cbor") == "" && f.Tag.Get("json") == "-"
}

// An embedded struct has exported fields, even when its own name is not.
func isEncoded(f reflect.StructField) bool {
	return tagOf(f) != "-" && (f.IsExported() || f.Anonymous && indirect(f.Type).Kind() == reflect.Struct)
}
