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
	return ext.(T), true //nolint:errcheck,forcetypeassert // stored under its type
}
