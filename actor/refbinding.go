package actor

import (
	"reflect"
	"sync"
)

// An unbound is malformed, or has just been decoded.
type unbound string

func newUnbound(path string) *core {
	return &core{label: path, impl: unbound(path), guarded: guarded{dead: true, over: true}}
}

func (u unbound) deliver(msg any, _ entrance) { deadLetterOfNoSystem(string(u), msg) }

type bindable interface{ pointer() **core }

func (r *ActorRef[M]) pointer() **core { return &r.c }

func bind(ref bindable, s *System) error {
	c := ref.pointer()
	if *c == nil || (*c).sys != nil {
		return nil
	}
	if s == nil {
		return errUnbound
	}
	*c = s.resolve((*c).label)
	return nil
}

var bindableType = reflect.TypeFor[bindable]()

// Without a system it refuses all refs.
type binder struct{ sys *System }

func (b binder) Bind(v reflect.Value) error { return bindValue(b.sys, v) }

func bindValue(s *System, v reflect.Value) error {
	if !mayHoldRefs(v.Type()) {
		return nil
	}
	if v.CanInterface() {
		if b, ok := reflect.TypeAssert[bindable](v.Addr()); ok {
			return bind(b, s)
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if !reachable(v.Type().Field(i)) {
				continue
			}
			if err := bindValue(s, v.Field(i)); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := bindValue(s, v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return bindValue(s, v.Elem())
		}
	case reflect.Map:
		return bindMap(s, v)
	}
	return nil
}

// bindMap replaces the map, because its keys and values are not addressable.
func bindMap(s *System, v reflect.Value) error {
	if v.IsNil() {
		return nil
	}
	bound := reflect.MakeMapWithSize(v.Type(), v.Len())
	for it := v.MapRange(); it.Next(); {
		key, value := addressable(it.Key()), addressable(it.Value())
		if err := bindValue(s, key); err != nil {
			return err
		}
		if err := bindValue(s, value); err != nil {
			return err
		}
		bound.SetMapIndex(key, value)
	}
	v.Set(bound)
	return nil
}

func addressable(v reflect.Value) reflect.Value {
	p := reflect.New(v.Type()).Elem()
	p.Set(v)
	return p
}

var refHolders sync.Map // reflect.Type → bool

// Interfaces cannot hold refs: the codec decodes no registered types into them.
func mayHoldRefs(t reflect.Type) bool {
	if known, ok := refHolders.Load(t); ok {
		return known.(bool) // only bools are stored
	}
	holds := findRefs(t, map[reflect.Type]bool{})
	refHolders.Store(t, holds)
	return holds
}

// reachable reports whether the codec encodes a field: an embedded struct may have exported fields
// even if its own name is unexported.
func reachable(f reflect.StructField) bool { return f.IsExported() || f.Anonymous }

func findRefs(t reflect.Type, seen map[reflect.Type]bool) bool {
	if reflect.PointerTo(t).Implements(bindableType) {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if reachable(f) && findRefs(f.Type, seen) {
				return true
			}
		}
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return findRefs(t.Elem(), seen)
	case reflect.Map:
		return findRefs(t.Key(), seen) || findRefs(t.Elem(), seen)
	}
	return false
}
