package behaviors

import "github.com/understudy-go/understudy/actor"

// Transform returns the behavior of an actor that takes messages of type Outer, and
// behaves as b does to what f makes of them. A message for which f says false is
// unhandled. f runs inside the actor; a panic in it is a failure of the actor.
//
// b has a context of its own: its timers, adapters and watches, and what it tells itself,
// are messages of type Inner that f does not see, and neither does what is around Transform.
// Children, supervision and the end are those of the actor. [Supervise] works inside and
// outside. Around Transform, timers of type Outer pass through f. It panics without b or f.
func Transform[Outer, Inner any](b actor.Behavior[Inner], f func(Outer) (Inner, bool)) actor.Behavior[Outer] {
	needBehavior("Transform", b)
	if f == nil {
		panic("behaviors: Transform needs a function")
	}
	return actor.Transform(b, f)
}
