// Package extension keeps values for the time of an actor system, such as what an extension
// of the framework needs once per system. Each is found by its static type. All functions
// may be called from any goroutine.
package extension

import (
	"reflect"

	"github.com/understudy-go/understudy/actor"
)

// Set puts ext into the system, under its static type T, for [Get] to find. A later one of
// the same type takes its place.
func Set[T any](s *actor.System, ext T) { s.Extensions().Store(reflect.TypeFor[T](), ext) }

// Get returns what was put into the system under the type T.
func Get[T any](s *actor.System) (T, bool) {
	ext, ok := s.Extensions().Load(reflect.TypeFor[T]())
	found, _ := ext.(T) // it is stored under its type, but may be nil
	return found, ok
}

// Ensure returns what is in the system under the type T, and puts there what create
// returns when there is nothing. create may be called in vain.
func Ensure[T any](s *actor.System, create func() T) T {
	if ext, ok := Get[T](s); ok {
		return ext
	}
	ext, _ := s.Extensions().LoadOrStore(reflect.TypeFor[T](), create())
	found, _ := ext.(T)
	return found
}
