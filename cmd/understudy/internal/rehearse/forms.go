package rehearse

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// The types of Understudy itself are compatible as its releases are.
const ownTypes = "understudy/"

// compareForms compares how the registered types of two builds are encoded.
func compareForms(f *findings, old, now *hello) {
	c := forms{f, old.Codecs, now.Codecs}
	for _, name := range slices.Sorted(maps.Keys(old.Forms)) {
		n, there := now.Forms[name]
		switch {
		case strings.HasPrefix(name, ownTypes):
		case !there:
			f.problem("type", name, "", "The new build has not registered this type, so it cannot read what older nodes send or have stored."+c.renamed(old.Forms[name], old.Forms, now.Forms), Example{})
		default:
			c.compare(name, "", old.Forms[name], n)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now.Forms)) {
		if _, there := old.Forms[name]; !there && !strings.HasPrefix(name, ownTypes) {
			f.note("type", name, "", "This type is new. The old build cannot read it: send and store it only after no old node is left.", Example{})
		}
	}
}

type forms struct {
	*findings
	oldCodecs, newCodecs []string
}

// renamed names a new type with the same fields.
func (*forms) renamed(gone *form, old, now map[string]*form) string {
	if len(gone.Fields) == 0 {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, there := old[name]; !there && reflect.DeepEqual(now[name], gone) {
			return fmt.Sprintf(" %q is new and has the same fields: register it under the old name.", name)
		}
	}
	return ""
}

func (c *forms) compare(name, path string, old, now *form) {
	if old == nil || now == nil {
		return
	}
	if c.codecs(name, path, old, now) {
		return
	}
	switch {
	case old.Kind == "struct" && now.Kind == "struct":
		c.fields(name, path, old.Fields, now.Fields)
	case old.Kind == "array" && now.Kind == "array":
		c.positions(name, path, old.Fields, now.Fields)
	case old.Kind == now.Kind && (old.Kind == "list" || old.Kind == "map"):
		c.compare(name, path+"[]", old.Elem, now.Elem)
		c.compare(name, path+"[key]", old.Key, now.Key)
	case old.Kind != now.Kind:
		c.kinds(name, path, old, now)
	}
	if old.Of != now.Of && old.Of != "" && now.Of != "" {
		c.problem("field", name, path, fmt.Sprintf("It was the ref of an actor that takes %s, and is one of an actor that takes %s.", old.Of, now.Of), Example{})
	}
	if old.Null && !now.Null {
		c.note("field", name, path, "It was a pointer and is a value now: nil becomes zero.", Example{})
	}
}

func (c *forms) codecs(name, path string, old, now *form) (differ bool) {
	if old.Codec == now.Codec {
		return false
	}
	if old.Codec != "" && !slices.Contains(c.newCodecs, old.Codec) {
		c.problem("type", name, path, fmt.Sprintf("The codec %q encoded it, which the new build does not know: give it to actor.WithCodec as a former one.", old.Codec), Example{})
	}
	if now.Codec != "" && !slices.Contains(c.oldCodecs, now.Codec) {
		c.problem("rollback", name, path, fmt.Sprintf("The codec %q encodes it now, which the old build does not know: deploy a build first that only reads it.", now.Codec), Example{})
	}
	return true
}

func find(all []formField, name string) *formField {
	i := slices.IndexFunc(all, func(f formField) bool { return f.Name == name })
	if i < 0 {
		i = slices.IndexFunc(all, func(f formField) bool { return strings.EqualFold(f.Name, name) })
	}
	if i < 0 {
		return nil
	}
	return &all[i]
}

func (c *forms) fields(name, path string, old, now []formField) {
	added := slices.DeleteFunc(slices.Clone(now), func(f formField) bool { return find(old, f.Name) != nil })
	for _, o := range old {
		at := join(path, o.Name)
		if n := find(now, o.Name); n != nil {
			c.compare(name, at, o.Form, n.Form)
			continue
		}
		i := slices.IndexFunc(added, func(f formField) bool { return reflect.DeepEqual(f.Form, o.Form) })
		if i < 0 {
			c.note("field", name, at, "The new build has not got this field. An older build reads zero.", Example{})
			continue
		}
		c.problem("field", name, at, fmt.Sprintf("The new build has not got this field, and %s is new and of the same kind. If it was renamed, keep the name: `cbor:%s`.", added[i].Name, strconv.Quote(o.Name)), Example{})
		added = slices.Delete(added, i, i+1)
	}
}

func (c *forms) positions(name, path string, old, now []formField) {
	for i := range min(len(old), len(now)) {
		o, n := old[i], now[i]
		at := join(path, o.Name)
		if o.Name != n.Name && (find(now, o.Name) != nil || find(old, n.Name) != nil) {
			c.problem("field", name, at, fmt.Sprintf("The struct is an array, and its element %d was this field and is %s now: only append fields.", i+1, n.Name), Example{})
			continue
		}
		c.compare(name, at, o.Form, n.Form)
	}
	for _, o := range old[min(len(old), len(now)):] {
		c.note("field", name, join(path, o.Name), "The new build has not got this field. An older build reads zero.", Example{})
	}
}

func (c *forms) kinds(name, path string, old, now *form) {
	from, to := old.Kind, now.Kind
	switch readable(from, to) {
	case no:
		c.problem("field", name, path, fmt.Sprintf("It was %s and is %s now, which cannot be read from it.", from, to), Example{})
		return
	case some:
		c.problem("field", name, path, fmt.Sprintf("It was %s and is %s now: values that do not fit cannot be read.", from, to), Example{})
		return
	}
	switch readable(to, from) {
	case no:
		c.problem("rollback", name, path, fmt.Sprintf("It was %s and is %s now, which older nodes cannot read.", from, to), Example{})
	case some:
		c.note("field", name, path, fmt.Sprintf("It was %s and is %s now. Older nodes read values that fit.", from, to), Example{})
	}
}

type fit int

const (
	no fit = iota
	some
	all
)

// readable reports whether a variable of kind to reads what was encoded of kind from.
func readable(from, to string) fit {
	f, t := number(from), number(to)
	switch {
	case from == to, to == "any", from == "own", to == "own" && from == "text", from == "time" && to == "text", from == "again", to == "again":
		return all
	case from == "any", from == "text" && to == "time":
		return some
	case f.bits == 0 || t.bits == 0:
		return no
	case f.class == 'f' && t.class != 'f':
		return no
	case f.class == t.class, t.class == 'f', f.class == 'u' && t.bits > f.bits:
		if t.class == 'f' && f.class != 'f' || t.bits >= f.bits {
			return all
		}
	}
	return some
}

type numeric struct {
	class byte // i, u or f
	bits  int  // 0: it is no number
}

func number(kind string) numeric {
	for _, class := range []string{"int", "uint", "float"} {
		if text, ok := strings.CutPrefix(kind, class); ok {
			bits, _ := strconv.Atoi(text) // 0 for another one
			return numeric{class[0], bits}
		}
	}
	return numeric{}
}
