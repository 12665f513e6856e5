package codec

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// A LostFieldError says that values of a type cannot be registered, because all of them would lose
// a field, or could not be encoded, whatever they are.
type LostFieldError struct {
	Type   reflect.Type // that was to be registered
	Path   string       // of the field, as it would stand in Go: .Lines[].note
	In     reflect.Type // the struct that has the field
	Field  reflect.StructField
	reason string
}

// Error names the type and the field, and the line of code that leaves the field out on purpose.
func (e *LostFieldError) Error() string {
	name := e.In.Name()
	if name == "" {
		name = e.In.String()
	}
	where := ""
	if e.In != e.Type {
		where = fmt.Sprintf(", at %s,", e.Path)
	}
	tag := strings.TrimSpace(string(e.Field.Tag) + ` cbor:"-"`)
	line := fmt.Sprintf("%s %v `%s`", e.Field.Name, e.Field.Type, tag)
	if e.Field.Anonymous {
		line = fmt.Sprintf("%v `%s`", e.Field.Type, tag)
	}
	return fmt.Sprintf("the field %s of %v%s %s; or, if each node may have it for itself, leave it out in the line of %s: %s",
		e.Field.Name, e.In, where, e.reason, name, line)
}

// CheckFields fails with [*LostFieldError] if a field of values of type t would be lost, although
// no tag says so. A type with encoding methods or a format of its own answers for its fields. So do
// generated protobuf messages.
func CheckFields(t reflect.Type) error {
	l := losses{root: t, seen: map[reflect.Type]bool{}}
	if e := l.of(t, "", nil, reflect.StructField{}); e != nil {
		return e
	}
	return nil
}

type losses struct {
	root reflect.Type
	seen map[reflect.Type]bool
}

// The value of type t is in a field of the struct holder; that is nil for the root.
func (l *losses) of(t reflect.Type, path string, holder reflect.Type, field reflect.StructField) *LostFieldError {
	if l.seen[t] || answersForItself(t) {
		return nil
	}
	l.seen[t] = true
	switch t.Kind() {
	case reflect.Pointer:
		return l.of(t.Elem(), path, holder, field)
	case reflect.Slice, reflect.Array:
		return l.of(t.Elem(), path+"[]", holder, field)
	case reflect.Map:
		if e := l.of(t.Key(), path+"[]", holder, field); e != nil {
			return e
		}
		return l.of(t.Elem(), path+"[]", holder, field)
	case reflect.Struct:
		return l.ofStruct(t, path, holder, field)
	case reflect.Func, reflect.Chan, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		if holder != nil {
			return l.lose(path, holder, field, "has a %v, which cannot be encoded", t)
		}
	}
	return nil
}

func (l *losses) lose(path string, in reflect.Type, field reflect.StructField, reason string, args ...any) *LostFieldError {
	return &LostFieldError{l.root, path, in, field, fmt.Sprintf(reason, args...)}
}

func (l *losses) ofStruct(t reflect.Type, path string, holder reflect.Type, field reflect.StructField) *LostFieldError {
	fields, lost := fieldsAndLost(t)
	switch {
	case len(lost) == 0:
	case len(fields) == 0 && holder != nil && t.PkgPath() != cmp.Or(holder.PkgPath(), t.PkgPath()): // of another package
		return l.lose(path, holder, field, "would be lost: a %v exports no fields, and has no methods MarshalCBOR or MarshalBinary; use another type", t)
	default:
		return l.lose(path+"."+lost[0].Name, t, lost[0], "%s", l.unexported(t, lost[0]))
	}
	for _, f := range fields {
		at := path + "." + f.Name
		if isHiddenFromJSON(f) {
			return l.lose(at, t, f, "has the tag `json:\"-\"`, by which it would be lost; add the tag `cbor:%q` to keep it", f.Name)
		}
		if e := l.of(f.Type, at, t, f); e != nil {
			return e
		}
	}
	return nil
}

// fields are those that are encoded, or hidden from JSON.
func fieldsAndLost(t reflect.Type) (fields, lost []reflect.StructField) {
	for f := range t.Fields() {
		switch {
		case isEncoded(f), isHiddenFromJSON(f):
			fields = append(fields, f)
		case tagOf(f) != "-" && f.Name != "_" && f.Type.Size() > 0 && !isLock(f.Type):
			lost = append(lost, f)
		}
	}
	return fields, lost
}

func (l *losses) unexported(t reflect.Type, f reflect.StructField) string {
	otherwise := "give the type methods MarshalCBOR and UnmarshalCBOR"
	if t != l.root {
		otherwise += fmt.Sprintf(", register %v with actor.WithCodec before %v", t, l.root)
	}
	return fmt.Sprintf("is not exported, so it would be lost on the wire and in journals; export it as %s, or %s",
		strings.ToUpper(f.Name[:1])+f.Name[1:], otherwise)
}

func answersForItself(t reflect.Type) bool {
	if of := formatsOf(t); of != nil && of.writes != nil {
		return true
	}
	return isTrusted(t) || encodesItself(t) && !inheritsCoding(t) || isLock(t) ||
		implements(t, []reflect.Type{reflect.TypeFor[interface{ ProtoMessage() }]()})
}

// Such a value has no content: a decoded lock is free.
func isLock(t reflect.Type) bool {
	return t.PkgPath() == "sync" && t != reflect.TypeFor[sync.Map]()
}
