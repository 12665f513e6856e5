package extension

import (
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
)

// A slot holds the value of one type.
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

// Set stores ext in the system under its static type T, for [Get] and [Ensure]. It replaces an
// earlier value of the type; callers that already have the earlier value keep it. Set waits for a
// concurrent [Ensure] of the same type.
func Set[T any](s *actor.System, ext T) {
	at := slotOf[T](s)
	at.creating.Lock()
	defer at.creating.Unlock()
	at.value.Store(&ext)
}

// Get returns the value that the system has for type T; ok is false if it has no value.
func Get[T any](s *actor.System) (ext T, ok bool) {
	if found := slotOf[T](s).value.Load(); found != nil {
		return *found, true
	}
	return ext, false
}

// Ensure returns the value that the system has for type T. Without a value, it calls create and
// stores the result. Concurrent calls wait, so create is called only once. If create panics, no
// value is stored. create must not call Ensure for the same type.
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

// A Mark says whether a behavior may be spawned under the name of a living actor; see [Marked].
type Mark interface {
	// Again returns nil if a Spawn of the behavior returns the ref of the living actor, which has
	// the mark living. Both must have the same message type. Otherwise Spawn panics with the text
	// of the error. Again is called by the goroutine that spawns.
	Again(living any) error
}

// Marked returns b with a mark. [actor.Spawn] of a marked behavior under the name of a living actor
// that was spawned with a marked behavior asks [Mark.Again] before it panics. A behavior around a
// marked one, such as a Supervise, has no mark.
func Marked[M any](b actor.Behavior[M], mark Mark) actor.Behavior[M] {
	return actorhook.Marked(b, mark).(actor.Behavior[M]) // by its contract
}

// MarkOf returns the mark of the behavior with which the living actor of this node that ref
// addresses was spawned. It returns nil if there is no mark or no such actor.
func MarkOf[M any](ref actor.ActorRef[M]) Mark {
	mark, _ := actorhook.Internals(ref).(interface{ Mark() any }).Mark().(Mark) // actor implements it
	return mark
}
