package behaviors

import "github.com/understudy-go/understudy/actor"

// Transform returns the behavior of an actor that takes messages of type Outer, converts each with
// f, and handles it with b. A message for which f returns false is unhandled. f runs inside the
// actor; a panic in it is a failure of the actor.
//
// b has a context of its own: its timers, adapters, watches and messages to itself are of type
// Inner, and pass neither through f nor through the wrappers around Transform. Children,
// supervision and the end are those of the actor. [Supervise] works inside and outside. Timers of
// type Outer, set around Transform, pass through f. Transform panics if b or f is nil.
func Transform[Outer, Inner any](b actor.Behavior[Inner], f func(Outer) (Inner, bool)) actor.Behavior[Outer] {
	needBehavior("Transform", b)
	if f == nil {
		panic("behaviors: Transform needs a function")
	}
	return actor.Transform(b, f)
}
