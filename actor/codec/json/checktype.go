package json

import (
	"encoding"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// CheckType returns an error for a type whose values JSON would change, with the line to
// change. Such a type has interfaces in fields, which are decoded as values of other types,
// channels, functions or complex numbers. Or a field of it is not exported, and has no tag
// `json:"-"` or `cbor:"-"`. Types with the methods MarshalJSON and UnmarshalJSON, or
// MarshalText and UnmarshalText, do as they like.
func (Codec) CheckType(t reflect.Type) error { return (&check{t, map[reflect.Type]bool{}}).of(t) }

type check struct {
	root reflect.Type
	seen map[reflect.Type]bool
}

func (c *check) of(t reflect.Type) error {
	if c.seen[t] || answersForItself(t) {
		return nil
	}
	c.seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return fmt.Errorf("JSON does not say which type is in an interface, and would decode a %v as another value; use a field of a concrete type, or json.RawMessage", t)
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return fmt.Errorf("JSON cannot encode a %v; leave it out with the tag `json:\"-\"`", t)
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return c.of(t.Elem())
	case reflect.Map:
		return errors.Join(c.of(t.Key()), c.of(t.Elem()))
	case reflect.Struct:
		return c.fields(t)
	}
	return nil
}

func (c *check) fields(t reflect.Type) error {
	for f := range t.Fields() {
		embedded := f.Anonymous && indirect(f.Type).Kind() == reflect.Struct
		switch {
		case f.Tag.Get("json") == "-":
			continue
		case !f.IsExported() && embedded && f.Type.Kind() == reflect.Pointer:
			return fmt.Errorf("JSON cannot decode the field %s of %v, a pointer to a type that is not exported; embed the type itself", f.Name, t)
		case !f.IsExported() && !embedded:
			if isLost(f) {
				return c.lost(t, f)
			}
			continue
		}
		if err := c.of(f.Type); err != nil {
			return fmt.Errorf("at field %s of %v: %w", f.Name, t, err)
		}
	}
	return nil
}

func isLost(f reflect.StructField) bool {
	return f.Name != "_" && f.Tag.Get("cbor") != "-" && f.Type.Size() > 0 && !isLock(f.Type)
}

func (c *check) lost(t reflect.Type, f reflect.StructField) error {
	if c.root.PkgPath() != "" && t.PkgPath() != c.root.PkgPath() {
		return fmt.Errorf("JSON would lose the field %s of a %v, which is not exported; use another type", f.Name, t)
	}
	line := fmt.Sprintf("%s %v `%s`", f.Name, f.Type, strings.TrimSpace(string(f.Tag)+` json:"-"`))
	if f.Anonymous {
		line = line[len(f.Name)+1:]
	}
	in := t.Name()
	if in == "" {
		in = t.String()
	}
	return fmt.Errorf("the field %s of %v is not exported, so JSON would lose it; export it as %s, or write MarshalJSON and UnmarshalJSON; or, if each node may have it for itself, leave it out in the line of %s: %s",
		f.Name, t, strings.ToUpper(f.Name[:1])+f.Name[1:], in, line)
}

// A lock has no content: a decoded lock is free.
func isLock(t reflect.Type) bool { return t.PkgPath() == "sync" && t != reflect.TypeFor[sync.Map]() }

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

var coding = []reflect.Type{reflect.TypeFor[stdjson.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()}

func codesItself(t reflect.Type) bool {
	return t.Kind() != reflect.Interface && slices.ContainsFunc(coding, reflect.PointerTo(t).Implements)
}

// The methods of an embedded field know nothing of the fields beside it.
func answersForItself(t reflect.Type) bool {
	if isLock(t) {
		return true
	}
	if !codesItself(t) || t.Kind() != reflect.Struct {
		return codesItself(t)
	}
	for f := range t.Fields() {
		if f.Anonymous && codesItself(indirect(f.Type)) {
			return t.NumField() == 1
		}
	}
	return true
}
