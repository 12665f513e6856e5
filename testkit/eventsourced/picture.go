package eventsourced

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// maxPictured bounds the values of a state that are compared.
const maxPictured = 10_000

// A picture is a deep copy of a value as texts, by their places, such as `.Items["milk"]`.
type picture map[string]string

func pictureOf(v any) picture {
	p := picture{}
	p.add("", reflect.ValueOf(v), map[visited]bool{})
	return p
}

type visited struct {
	pointer uintptr
	of      reflect.Type
}

func (p picture) add(at string, v reflect.Value, seen map[visited]bool) {
	if len(p) >= maxPictured {
		return
	}
	if !v.IsValid() {
		p[at] = "nil"
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		p.addPointer(at, v, seen)
	case reflect.Interface:
		p.add(at, v.Elem(), seen)
	case reflect.Struct:
		p.addStruct(at, v, seen)
	case reflect.Map:
		p.addMap(at, v, seen)
	case reflect.Slice, reflect.Array:
		p[at+" (length)"] = strconv.Itoa(v.Len())
		for i := range v.Len() {
			p.add(fmt.Sprintf("%s[%d]", at, i), v.Index(i), seen)
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		p[at] = fmt.Sprintf("%#x", v.Pointer())
	default:
		p[at] = fmt.Sprintf("%#v", v) // also of a field that is not exported
	}
}

func (p picture) addPointer(at string, v reflect.Value, seen map[visited]bool) {
	to := visited{v.Pointer(), v.Type()}
	if v.IsNil() || seen[to] {
		p[at] = fmt.Sprintf("%#x", to.pointer)
		return
	}
	seen[to] = true
	p.add(at, v.Elem(), seen)
}

// addStruct leaves out locks, which are not part of a state.
func (p picture) addStruct(at string, v reflect.Value, seen map[visited]bool) {
	if pkg := v.Type().PkgPath(); pkg == "sync" || pkg == "sync/atomic" {
		return
	}
	for i := range v.NumField() {
		p.add(at+"."+v.Type().Field(i).Name, v.Field(i), seen)
	}
}

func (p picture) addMap(at string, v reflect.Value, seen map[visited]bool) {
	p[at+" (length)"] = strconv.Itoa(v.Len())
	for entries := v.MapRange(); entries.Next(); {
		key := picture{}
		key.add("", entries.Key(), map[visited]bool{})
		p.add(fmt.Sprintf("%s[%s]", at, key.text()), entries.Value(), seen)
	}
}

func (p picture) text() string {
	if one, ok := p[""]; ok {
		return one
	}
	return strings.TrimPrefix(fmt.Sprint(map[string]string(p)), "map") // sorted
}

// changed returns what now has otherwise than p, or "".
func (p picture) changed(now picture) string {
	for _, at := range sortedPlaces(p, now) {
		was, had := p[at]
		is, has := now[at]
		switch {
		case was == is && had == has:
		case !had:
			return fmt.Sprintf("the state has got %s%s", place(at), is)
		case !has:
			return fmt.Sprintf("the state has lost %s%s", place(at), was)
		default:
			return fmt.Sprintf("%swas %s, and is %s", place(at), was, is)
		}
	}
	return ""
}

// sortedPlaces returns the places in both pictures. Those of lengths come last: the elements say
// more.
func sortedPlaces(a, b picture) []string {
	places := slices.Collect(maps.Keys(a))
	for at := range b {
		if _, both := a[at]; !both {
			places = append(places, at)
		}
	}
	isLength := func(at string) bool { return strings.HasSuffix(at, " (length)") }
	slices.SortFunc(places, func(x, y string) int {
		if isLength(x) != isLength(y) {
			return map[bool]int{true: 1, false: -1}[isLength(x)]
		}
		return strings.Compare(x, y)
	})
	return places
}

func place(at string) string {
	if at == "" {
		return "it "
	}
	return at + " "
}
