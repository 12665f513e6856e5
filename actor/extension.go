package actor

import "reflect"

// Extend puts ext into the system, under its static type T, for [Extension] to find.
// A later one of the same type takes its place.
func Extend[T any](s *System, ext T) { s.extensions.Store(reflect.TypeFor[T](), ext) }

// Extension returns what was put into the system under the type T.
func Extension[T any](s *System) (T, bool) {
	ext, ok := s.extensions.Load(reflect.TypeFor[T]())
	if !ok {
		var none T
		return none, false
	}
	return ext.(T), true // stored under its type
}

// EnsureExtension returns what is in the system under the type T, and puts there what
// create returns when there is nothing. create may be called in vain.
func EnsureExtension[T any](s *System, create func() T) T {
	if ext, ok := Extension[T](s); ok {
		return ext
	}
	ext, _ := s.extensions.LoadOrStore(reflect.TypeFor[T](), create())
	return ext.(T) // stored under its type
}
