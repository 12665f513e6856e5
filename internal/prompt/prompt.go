// Package prompt knows which stores answer at once: those in memory, whose calls wait for
// nothing. Calls to others run in goroutines that an actor can abandon, which costs more
// than such a call itself.
package prompt

import (
	"reflect"
	"sync"
)

var types sync.Map // of reflect.Type, to nothing

// Register says that all stores of the type T are prompt. Those that embed one are not.
func Register[T any]() { types.Store(reflect.TypeFor[T](), nil) }

// Is reports whether store is of a type that was registered.
func Is(store any) bool {
	_, is := types.Load(reflect.TypeOf(store))
	return is
}
