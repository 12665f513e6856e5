package extension

import (
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
)

// A slot has the value of one type.
type slot[T any] struct {
	creating sync.Mutex        // held while it is created or set
	value    atomic.Pointer[T] // nil: none yet
}

func slotOf[T any](s *actor.System) *slot[T] {
	key := reflect.TypeFor[T]()
	values := of(s).Values()
	known, ok := values.Load(key)
	if !ok {
		known, _ = values.LoadOrStore(key, &slot[T]{})
	}
	return known.(*slot[T]) // stored under its type
}

// Set puts ext into the system, under its static type T, for [Get] and [Ensure] to find. A
// later one of the same type takes its place; what has the earlier one by then goes on with
// it. It waits for an [Ensure] that is creating one.
func Set[T any](s *actor.System, ext T) {
	at := slotOf[T](s)
	at.creating.Lock()
	defer at.creating.Unlock()
	at.value.Store(&ext)
}

// Get returns what was put into the system under the type T; ok is false when nothing was.
func Get[T any](s *actor.System) (ext T, ok bool) {
	if found := slotOf[T](s).value.Load(); found != nil {
		return *found, true
	}
	return ext, false
}

// Ensure returns what is in the system under the type T. When there is nothing, it puts there
// what create returns, which is called once, however many call Ensure at once: the others wait.
// After a panic of create there is nothing yet. create must not ensure the same type.
func Ensure[T any](s *actor.System, create func() T) T {
	at := slotOf[T](s)
	if found := at.value.Load(); found != nil {
		return *found
	}
	at.creating.Lock()
	defer at.creating.Unlock()
	if found := at.value.Load(); found != nil {
		return *found
	}
	ext := create()
	at.value.Store(&ext)
	return ext
}
