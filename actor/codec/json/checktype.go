package json

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// CheckType returns an error for a type whose values JSON would change, with the line to
// change. Such a type has interfaces in fields, which are decoded as values of other types,
// channels, functions or complex numbers. Or a field of it is not exported, and has no tag
// `json:"-"` or `cbor:"-"`, or has the name of another one. Types with the methods MarshalJSON and
// UnmarshalJSON, or MarshalText and UnmarshalText, do as they like, where JSON calls these.
func (Codec) CheckType(t reflect.Type) error {
	return (&check{t, map[place]bool{}}).of(place{t, false})
}

type check struct {
	root reflect.Type
	seen map[place]bool
}

// A place is where a value is. JSON calls methods of pointers only where a value has an address:
// behind pointers and in slices.
type place struct {
	reflect.Type
	addressed bool
}

func (p place) elem() place {
	k := p.Kind()
	return place{p.Elem(), k == reflect.Pointer || k == reflect.Slice || k == reflect.Array && p.addressed}
}

func (c *check) of(p place) error {
	t := p.Type
	if c.seen[p] || isLock(t) {
		return nil
	}
	c.seen[p] = true
	if itself, err := answersForItself(p); itself || err != nil {
		return err
	}
	switch t.Kind() {
	case reflect.Interface:
		return fmt.Errorf("JSON does not say which type is in an interface, and would decode a %v as another value; use a field of a concrete type, or json.RawMessage", t)
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return fmt.Errorf("JSON cannot encode a %v; leave it out with the tag `json:\"-\"`", t)
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return c.of(p.elem())
	case reflect.Map:
		return errors.Join(c.of(place{t.Key(), false}), c.of(p.elem()))
	case reflect.Struct:
		return cmp.Or(c.fields(p), sameNames(t))
	}
	return nil
}

func (c *check) fields(p place) error {
	t := p.Type
	for f := range t.Fields() {
		embedded := f.Anonymous && indirect(f.Type).Kind() == reflect.Struct
		switch {
		case f.Tag.Get("json") == "-":
			continue
		case embedded && f.Tag.Get("json") == "" && hasOneOf(encoders, reflect.PointerTo(indirect(f.Type))):
			return fmt.Errorf("JSON would not call the methods of %s, which is embedded in %v; give that field a name", f.Name, t)
		case !f.IsExported() && embedded && f.Type.Kind() == reflect.Pointer:
			return fmt.Errorf("JSON cannot decode the field %s of %v, a pointer to a type that is not exported; embed the type itself", f.Name, t)
		case !f.IsExported() && !embedded:
			if isLost(f) {
				return c.lost(t, f)
			}
			continue
		}
		if err := c.of(place{f.Type, p.addressed}); err != nil {
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
