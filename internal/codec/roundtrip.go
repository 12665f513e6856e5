package codec

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"time"
)

// b was decoded from the encoding of a. Times are the same if they are the same instant, and all
// NaNs are the same. Values of a type with encoding methods are the same if they are encoded as the
// same bytes.
//
// The values of a type with a format are for the format to compare.
func same(a, b reflect.Value) *fault {
	if of := formatsOf(a.Type()); of != nil && of.writes != nil {
		return differs(isNilPointer(a) != isNilPointer(b), a)
	}
	return sameParts(a, b)
}

func sameParts(a, b reflect.Value) *fault {
	t := a.Type()
	if a.Kind() == reflect.Pointer && (a.IsNil() || b.IsNil()) {
		return differs(a.IsNil() != b.IsNil(), a)
	}
	if !a.CanInterface() { // it is embedded: its fields count
		return sameFields(reflect.Indirect(a), reflect.Indirect(b))
	}
	if t == reflect.TypeFor[time.Time]() {
		x, _ := reflect.TypeAssert[time.Time](a)
		y, _ := reflect.TypeAssert[time.Time](b)
		return differs(!x.Equal(y), a)
	}
	if encodesItself(t) || decodesItself(t) {
		x, err := bytesOf(a)
		y, again := bytesOf(b)
		if other := err != nil || again != nil || !bytes.Equal(x, y); other || !inheritsCoding(t) {
			return differs(other, a)
		}
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return sameElements(a, b)
	case reflect.Map:
		return sameEntries(a, b)
	case reflect.Struct:
		return sameFields(a, b)
	case reflect.Pointer:
		return same(a.Elem(), b.Elem())
	case reflect.Interface:
		if a.IsNil() || b.IsNil() || a.Elem().Type() != b.Elem().Type() {
			return differs(!a.IsNil() || !b.IsNil(), a)
		}
		return same(a.Elem(), b.Elem())
	case reflect.Float32, reflect.Float64:
		return differs(a.Float() != b.Float() && !(math.IsNaN(a.Float()) && math.IsNaN(b.Float())), a)
	}
	return differs(!a.Equal(b), a)
}

// Encoding methods from an embedded field do not encode the other fields.
func inheritsCoding(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for f := range t.Fields() {
		if of := indirect(f.Type); f.Anonymous && (encodesItself(of) || decodesItself(of)) {
			return true
		}
	}
	return false
}

func differs(so bool, a reflect.Value) *fault {
	if !so {
		return nil
	}
	return broken("this %v would be decoded as another value", a.Type())
}

func bytesOf(v reflect.Value) ([]byte, error) { return encoding.Marshal(v.Interface()) }

func sameElements(a, b reflect.Value) *fault {
	if a.Kind() == reflect.Slice && a.IsNil() != b.IsNil() || a.Len() != b.Len() {
		return differs(true, a)
	}
	for i := range a.Len() {
		if f := same(a.Index(i), b.Index(i)); f != nil {
			return f.at("[%d]", i)
		}
	}
	return nil
}

// Keys match by their encoding, because keys with pointers or times differ for Go.
func sameEntries(a, b reflect.Value) *fault {
	if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
		return differs(true, a)
	}
	if isPlainKey(a.Type().Key()) {
		for all := a.MapRange(); all.Next(); {
			other := b.MapIndex(all.Key())
			if !other.IsValid() {
				return differs(true, a)
			}
			if f := same(all.Value(), other); f != nil {
				return f.at("[%q]", short(all.Key()))
			}
		}
		return nil
	}
	of, err := byKey(b)
	if err != nil {
		return &fault{err: err}
	}
	for all := a.MapRange(); all.Next(); {
		key, err := bytesOf(all.Key())
		other, there := of[string(key)]
		if err != nil || !there || same(all.Key(), other.key) != nil {
			return broken("this key of a map would be decoded as another one, or as another one is").at(" key %q", short(all.Key()))
		}
		if f := same(all.Value(), other.value); f != nil {
			return f.at("[%q]", short(all.Key()))
		}
		delete(of, string(key)) // so that two of a are not the same one
	}
	return nil
}

type entry struct{ key, value reflect.Value }

func byKey(m reflect.Value) (map[string]entry, error) {
	of := make(map[string]entry, m.Len())
	for all := m.MapRange(); all.Next(); {
		key, err := bytesOf(all.Key())
		if err != nil {
			return nil, err
		}
		of[string(key)] = entry{all.Key(), all.Value()}
	}
	return of, nil
}

func sameFields(a, b reflect.Value) *fault {
	for f := range a.Type().Fields() {
		if !isEncoded(f) {
			continue
		}
		x, y := a.Field(f.Index[0]), b.Field(f.Index[0])
		if strings.Contains(tagOf(f), ",omit") && isEmpty(x) && y.IsZero() {
			continue
		}
		if found := same(x, y); found != nil {
			return found.at(".%s", f.Name)
		}
	}
	return nil
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	}
	return v.IsZero()
}
