package inspect

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/understudy-go/understudy/internal/guard"
)

// SecretTag is the tag of a field whose value is not shown: `understudy:"secret"`.
const SecretTag = "secret"

// A Shower turns values into such that package encoding/json can write. Bytes and secret fields are
// left out, and what is too much.
type Shower struct {
	Hides func(of reflect.Type, field reflect.StructField) bool // hides further fields; may be nil

	left int
}

// They bound what is shown of one value.
const (
	maxShown = 10_000 // values
	maxDepth = 32
	maxText  = 4 << 10
)

// Show returns v as maps, slices and plain values. It is for one goroutine.
func (s *Shower) Show(v any) any {
	s.left = maxShown
	return s.show(reflect.ValueOf(v), maxDepth)
}

func (s *Shower) show(v reflect.Value, depth int) any {
	if s.left--; s.left < 0 || depth == 0 {
		return "…"
	}
	if !v.IsValid() {
		return nil
	}
	if text, ok := textOf(v); ok {
		return text
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return s.show(v.Elem(), depth-1)
	case reflect.Struct:
		return s.fields(v, depth)
	case reflect.Map:
		return s.entries(v, depth)
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return fmt.Sprintf("<%d bytes>", v.Len())
		}
		all := []any{}
		for i := range v.Len() {
			if s.left <= 0 {
				all = append(all, fmt.Sprintf("… %d more", v.Len()-i))
				break
			}
			all = append(all, s.show(v.Index(i), depth-1))
		}
		return all
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return "<" + v.Type().String() + ">"
	case reflect.Complex64, reflect.Complex128:
		return fmt.Sprint(v.Complex())
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) { // which are no JSON
			return fmt.Sprint(f)
		}
		return v.Float()
	case reflect.String:
		return cut(v.String())
	}
	return plain(v)
}

func plain(v reflect.Value) any {
	switch {
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return v.Uint()
	}
	return v.Bool()
}

func (s *Shower) fields(v reflect.Value, depth int) any {
	all := map[string]any{}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case !f.IsExported():
		case f.Tag.Get("understudy") == SecretTag, s.Hides != nil && s.Hides(v.Type(), f):
			all[f.Name] = "<secret>"
		default:
			all[f.Name] = s.show(v.Field(i), depth-1)
		}
	}
	return all
}

func (s *Shower) entries(v reflect.Value, depth int) any {
	all := map[string]any{}
	keys := v.MapKeys()
	names := make(map[string]reflect.Value, len(keys))
	for _, k := range keys {
		names[fmt.Sprint(s.show(k, depth-1))] = k
	}
	for name, k := range names {
		if s.left <= 0 {
			all["…"] = fmt.Sprintf("%d more", len(names)-len(all))
			break
		}
		all[name] = s.show(v.MapIndex(k), depth-1)
	}
	return all
}

// A text of its own is what a time has, or a ref.
func textOf(v reflect.Value) (text string, ok bool) {
	if !v.CanInterface() || v.Kind() == reflect.Pointer && v.IsNil() {
		return "", false
	}
	err := guard.Run(func() (err error) {
		switch x := v.Interface().(type) {
		case encoding.TextMarshaler:
			var b []byte
			b, err = x.MarshalText()
			text, ok = string(b), true
		case fmt.Stringer:
			if v.Kind() == reflect.Struct || v.Kind() == reflect.Int64 { // a ref or a duration
				text, ok = x.String(), true
			}
		}
		return err
	})
	if err != nil {
		return "<" + cut(guard.Text(err)) + ">", true
	}
	return cut(text), ok
}

func cut(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}

// A Change is a difference between two shown values.
type Change struct {
	Path   string `json:"path"` // "items.3.count"; "" is the whole
	Before any    `json:"before"`
	After  any    `json:"after"`
}

// Diff returns the changes from one shown value to another one, by their paths. A value that is not
// there is nil.
func Diff(before, after any) []Change {
	all := []Change{}
	diff(&all, "", before, after)
	slices.SortStableFunc(all, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return all
}

func diff(all *[]Change, path string, before, after any) {
	if b, ok := before.(map[string]any); ok {
		if a, ok := after.(map[string]any); ok {
			for name := range b {
				diff(all, join(path, name), b[name], a[name])
			}
			for name := range a {
				if _, there := b[name]; !there {
					diff(all, join(path, name), nil, a[name])
				}
			}
			return
		}
	}
	if b, ok := before.([]any); ok {
		if a, ok := after.([]any); ok {
			for i := range max(len(a), len(b)) {
				diff(all, join(path, strconv.Itoa(i)), at(b, i), at(a, i))
			}
			return
		}
	}
	if !reflect.DeepEqual(before, after) {
		*all = append(*all, Change{path, before, after})
	}
}

func at(all []any, i int) any {
	if i < len(all) {
		return all[i]
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
