package extension

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
)

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
