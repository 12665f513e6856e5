package rehearse

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A difference is between two values that builds have painted.
type difference struct {
	path    string // "Items[tea].Count"; "" is the whole
	pattern string // the path without keys and numbers: "Items[].Count"
	old     any    // nil if it is not there
	now     any
	gone    bool // the field is not in the new value, and no other one has its value
}

// diff returns the differences between two values in JSON. It passes over fields that only the new
// one has, unless strict.
func diff(old, now json.RawMessage, strict bool) []difference {
	if bytes.Equal(old, now) {
		return nil
	}
	d := differ{strict: strict}
	d.values("", "", parsed(old), parsed(now))
	return d.all
}

func parsed(data json.RawMessage) (v any) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil // there is nothing
	}
	return v
}

type differ struct {
	strict bool
	all    []difference
}

func (d *differ) values(path, pattern string, old, now any) {
	switch o := old.(type) {
	case map[string]any:
		if n, ok := now.(map[string]any); ok {
			d.objects(path, pattern, o, n)
			return
		}
	case []any:
		if n, ok := now.([]any); ok {
			for i := range max(len(o), len(n)) {
				d.values(path+"["+strconv.Itoa(i)+"]", pattern+"[]", at(o, i), at(n, i))
			}
			return
		}
	}
	if !reflect.DeepEqual(old, now) && (!empty(old) || !empty(now)) {
		d.all = append(d.all, difference{path: path, pattern: pattern, old: old, now: now})
	}
}

func at(all []any, i int) any {
	if i < len(all) {
		return all[i]
	}
	return nil
}

// The keys of maps have brackets.
func isEntry(name string) bool { return strings.HasPrefix(name, "[") }

func (d *differ) objects(path, pattern string, old, now map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(old)) {
		n, there := now[name]
		switch {
		case there, isEntry(name):
			d.values(join(path, name), joinPattern(pattern, name), old[name], n)
		case d.strict, !zero(old[name]) && !isMoved(old[name], old, now):
			d.all = append(d.all, difference{path: join(path, name), pattern: joinPattern(pattern, name), old: old[name], gone: true})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, there := old[name]; !there && (d.strict || isEntry(name)) {
			d.values(join(path, name), joinPattern(pattern, name), nil, now[name])
		}
	}
}

// isMoved reports whether a field that only the new value has has the value v.
func isMoved(v any, old, now map[string]any) bool {
	for name, n := range now {
		if _, there := old[name]; !there && reflect.DeepEqual(v, n) {
			return true
		}
	}
	return false
}

func zero(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case json.Number:
		return v == "0"
	case map[string]any:
		for name, f := range v {
			if isEntry(name) || !zero(f) {
				return false
			}
		}
		return true
	}
	return empty(v)
}

// empty is true for a list and a map without entries.
func empty(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

func join(path, name string) string {
	if path == "" || isEntry(name) {
		return path + name
	}
	return path + "." + name
}

func joinPattern(pattern, name string) string {
	if isEntry(name) {
		return pattern + "[]"
	}
	return join(pattern, name)
}

// shown is a value in a line.
func shown(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	const most = 120
	if text := strings.TrimSpace(b.String()); len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(b.String()[:most], "") + "…"
}
