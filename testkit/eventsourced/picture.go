package eventsourced

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxPictured bounds the values of a state that are compared.
const maxPictured = 10_000

// A picture is a deep copy of a value as texts, by their places, such as `.Items["milk"]`.
type picture map[string]string

func pictureOf(v any) picture { return paint(v, false) }

// storedPictureOf is the picture of what of a state is the same after it has been stored and read:
// times are instants, and fields that are left out on purpose are not there. Times in fields that
// are not exported are left out.
func storedPictureOf(v any) picture { return paint(v, true) }

func paint(v any, stored bool) picture {
	p := &painter{picture{}, stored, map[visited]bool{}}
	p.add("", reflect.ValueOf(v))
	return p.places
}

type painter struct {
	places picture
	stored bool
	seen   map[visited]bool
}

type visited struct {
	pointer uintptr
	of      reflect.Type
}

func (p *painter) add(at string, v reflect.Value) {
	if len(p.places) >= maxPictured {
		return
	}
	if !v.IsValid() {
		p.places[at] = "nil"
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		p.addPointer(at, v)
	case reflect.Interface:
		p.add(at, v.Elem())
	case reflect.Struct:
		p.addStruct(at, v)
	case reflect.Map:
		p.addMap(at, v)
	case reflect.Slice, reflect.Array:
		p.places[at+" (length)"] = strconv.Itoa(v.Len())
		for i := range v.Len() {
			p.add(fmt.Sprintf("%s[%d]", at, i), v.Index(i))
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		if !p.stored {
			p.places[at] = fmt.Sprintf("%#x", v.Pointer())
		}
	default:
		p.places[at] = fmt.Sprintf("%#v", v) // also of a field that is not exported
	}
}

func (p *painter) addPointer(at string, v reflect.Value) {
	to := visited{v.Pointer(), v.Type()}
	switch {
	case v.IsNil():
		p.places[at] = "nil"
	case p.seen[to] && !p.stored:
		p.places[at] = fmt.Sprintf("%#x", to.pointer)
	case !p.seen[to]:
		p.seen[to] = true
		p.add(at, v.Elem())
		if p.stored { // then two pointers to one variable are pointers to two
			delete(p.seen, to)
		}
	}
}

// addStruct leaves out locks, which are not part of a state.
func (p *painter) addStruct(at string, v reflect.Value) {
	if pkg := v.Type().PkgPath(); pkg == "sync" || pkg == "sync/atomic" {
		return
	}
	if p.stored && v.Type() == reflect.TypeFor[time.Time]() {
		if t, ok := instantOf(v); ok {
			p.places[at] = t
		}
		return
	}
	for i := range v.NumField() {
		if f := v.Type().Field(i); !p.stored || f.Tag.Get("cbor") != "-" {
			p.add(at+"."+f.Name, v.Field(i))
		}
	}
}

func instantOf(v reflect.Value) (instant string, ok bool) {
	if !v.CanInterface() {
		return "", false
	}
	t, ok := reflect.TypeAssert[time.Time](v)
	return t.UTC().Format(time.RFC3339Nano), ok
}

func (p *painter) addMap(at string, v reflect.Value) {
	p.places[at+" (length)"] = strconv.Itoa(v.Len())
	for entries := v.MapRange(); entries.Next(); {
		key := &painter{picture{}, p.stored, map[visited]bool{}}
		key.add("", entries.Key())
		p.add(fmt.Sprintf("%s[%s]", at, key.places.text()), entries.Value())
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
