// Package nonblocking knows the stores whose calls do not wait for anything, such as those in
// memory. Calls of other stores run in goroutines that an actor can abandon, which costs more than
// a call in memory.
package nonblocking

import (
	"reflect"
	"sync"
)

var types sync.Map // of reflect.Type, to nothing

// Register declares that calls of stores of type T never block. It does not cover stores that embed
// one.
func Register[T any]() { types.Store(reflect.TypeFor[T](), nil) }

// Is reports whether the type of store was registered.
func Is(store any) bool {
	_, is := types.Load(reflect.TypeOf(store))
	return is
}
