package actor

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/payload"
)

type encoding struct {
	failed func(recipient string, msg any, err error)
}

// The result is a copy if c's system encodes messages, otherwise msg itself. An error has been
// reported; the caller decides what becomes of msg.
func carried[M any](c *core, msg M) (M, error) {
	if c.sys == nil || c.sys.encoding == nil {
		return msg, nil
	}
	back, err := c.sys.encoding.carry(c, msg)
	if err != nil {
		return msg, err
	}
	m, _ := payload.As[M](back) // it has the type that it had
	return m, nil
}

func (e *encoding) carry(c *core, msg any) (any, error) {
	if msg == nil || isLocal(msg) {
		return msg, nil
	}
	back, err := throughWire(c.sys, msg)
	if err != nil {
		e.failed(c.fullPath(), msg, err)
	}
	return back, err
}

func throughWire(s *System, msg any) (any, error) {
	p, err := payload.Pack(msg)
	if err != nil {
		return nil, err
	}
	if err := s.checkFields(msg); err != nil {
		return nil, err
	}
	return payload.Unpack(p, binder{s})
}

func (s *System) checkFields(v any) error {
	if s.encoding == nil {
		return nil
	}
	if err := codec.Survives(v); err != nil {
		return fmt.Errorf("%w: %w", ErrNotSerializable, err)
	}
	if field := lostField(reflect.ValueOf(v), maxLostDepth); field != "" {
		return fmt.Errorf("%w: %T has a value in the field %s, which is not exported and so is not encoded; export it, or leave it empty",
			ErrNotSerializable, v, field)
	}
	return nil
}

var module = strings.TrimSuffix(reflect.TypeFor[System]().PkgPath(), "actor")

// Its type says so, or it is an unnamed message between actors of the framework.
func isLocal(msg any) bool {
	if l, ok := msg.(interface{ LocalOnly() bool }); ok {
		local, _ := guard.Value(l.LocalOnly)
		return local
	}
	t := reflect.TypeOf(msg)
	if _, named := codec.NameOf(t); named {
		return false
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	of, inside := strings.CutPrefix(t.PkgPath(), module)
	return inside && of != "actor" && !strings.HasPrefix(of, "examples/") && !strings.HasSuffix(of, "_test")
}

const maxLostDepth = 16

// lostField is the first unexported field with a value, which encoding loses, or "".
func lostField(v reflect.Value, depth int) string {
	if depth == 0 || !v.IsValid() || codesItself(v.Type()) {
		return ""
	}
	switch v.Kind() {
	case reflect.Struct:
		return lostOfStruct(v, depth)
	case reflect.Pointer, reflect.Interface:
		return lostField(v.Elem(), depth-1)
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() <= reflect.Complex128 {
			return "" // numbers, such as the bytes of a payload, have no fields
		}
		for i := range v.Len() {
			if field := lostField(v.Index(i), depth-1); field != "" {
				return field
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if field := lostField(it.Value(), depth-1); field != "" {
				return field
			}
		}
	}
	return ""
}

func lostOfStruct(v reflect.Value, depth int) string {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case f.Name == "_", f.Tag.Get("cbor") == "-":
		case !reachable(f):
			if !v.Field(i).IsZero() {
				return f.Name
			}
		default:
			if field := lostField(v.Field(i), depth-1); field != "" {
				return f.Name + "." + field
			}
		}
	}
	return ""
}

var selfCoding sync.Map // reflect.Type → bool

func codesItself(t reflect.Type) bool {
	if known, ok := selfCoding.Load(t); ok {
		return known.(bool) // only bools are stored
	}
	itself := slices.ContainsFunc(codings, reflect.PointerTo(t).Implements)
	selfCoding.Store(t, itself)
	return itself
}

// codings are not looked up by name: that would make the linker keep every exported method of every
// type, and the program half as large again.
var codings = []reflect.Type{
	reflect.TypeFor[interface{ MarshalCBOR() ([]byte, error) }](),
	reflect.TypeFor[interface{ MarshalBinary() ([]byte, error) }](),
	reflect.TypeFor[interface{ MarshalJSON() ([]byte, error) }](),
	reflect.TypeFor[interface{ MarshalText() ([]byte, error) }](),
	reflect.TypeFor[interface{ ProtoMessage() }](), // generated; unexported fields are for its library
}
