package actor

import (
	"reflect"
	"sync"
)

// refsIn returns the cores behind the refs in a message, exported or not. It looks into structs,
// into slices, and through pointers to types that contain refs. It does not look into maps and into
// values with locks, which other goroutines may be changing, nor into functions and channels.
func refsIn(msg any) []*core {
	v := reflect.ValueOf(msg)
	if !v.IsValid() {
		return nil
	}
	var l refsLooker
	if v.Kind() == reflect.Pointer && !v.IsNil() && !reachOf(v.Type().Elem()).locks {
		v = v.Elem()
	}
	l.look(v, 0)
	return l.found
}

type refsLooker struct {
	found []*core
	steps int
}

// A value may be large, or go round in circles.
const (
	maxLooks = 4096
	maxDepth = 32
)

func (l *refsLooker) look(v reflect.Value, depth int) {
	l.steps++
	at := reachOf(v.Type())
	if !at.refs && !at.interfaces || depth > maxDepth || l.steps > maxLooks {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if at.ref {
			if c := (*core)(v.Field(0).UnsafePointer()); c != nil { // of whatever type, of a field of whatever name
				l.found = append(l.found, c)
			}
			return
		}
		for _, field := range v.Fields() {
			l.look(field, depth+1)
		}
	case reflect.Slice, reflect.Array:
		for i := 0; i < v.Len() && l.steps <= maxLooks; i++ {
			l.look(v.Index(i), depth+1)
		}
	case reflect.Pointer:
		l.follow(v, depth)
	case reflect.Interface:
		if v = v.Elem(); v.IsValid() {
			l.look(v, depth+1)
		}
	}
}

func (l *refsLooker) follow(v reflect.Value, depth int) {
	if to := reachOf(v.Type().Elem()); !v.IsNil() && to.refs && !to.locks {
		l.look(v.Elem(), depth+1)
	}
}

type reach struct {
	ref        bool
	refs       bool
	interfaces bool
	locks      bool // not behind a pointer
}

var reaches sync.Map // reflect.Type → reach

func reachOf(t reflect.Type) reach {
	if known, ok := reaches.Load(t); ok {
		return known.(reach) // only those are stored
	}
	r := reach{ref: isRef(t), locks: hasLocks(t)}
	r.find(t, map[reflect.Type]bool{})
	reaches.Store(t, r)
	return r
}

func (r *reach) find(t reflect.Type, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		if isRef(t) {
			r.refs = true
			return
		}
		for f := range t.Fields() {
			r.find(f.Type, seen)
		}
	case reflect.Slice, reflect.Array:
		r.find(t.Elem(), seen)
	case reflect.Pointer:
		if !hasLocks(t.Elem()) {
			r.find(t.Elem(), seen)
		}
	case reflect.Interface:
		r.interfaces = true
	}
}

func isRef(t reflect.Type) bool {
	return t.PkgPath() == corePackage && reflect.PointerTo(t).Implements(bindableType)
}

func hasLocks(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		if t.PkgPath() == "sync" || t.PkgPath() == "sync/atomic" {
			return true
		}
		for f := range t.Fields() {
			if hasLocks(f.Type) {
				return true
			}
		}
	case reflect.Array:
		return hasLocks(t.Elem())
	}
	return false
}

var corePackage = reflect.TypeFor[core]().PkgPath()
