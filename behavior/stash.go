package behaviors

import "github.com/understudy-go/understudy/actor"

// WithStash calls f with a stash for up to capacity messages that cannot be handled yet, and
// continues with the behavior that f returns. [actor.Stash.UnstashAll] returns the messages.
//
// The stash belongs to the behaviors that f returns. Outside [Supervise] it survives the restarts
// inside. Inside, a restart makes its messages dead letters and calls f again, with an empty stash.
// WithStash panics inside the actor unless capacity > 0.
func WithStash[M any](capacity int, f func(stash *actor.Stash[M]) actor.Behavior[M]) actor.Behavior[M] {
	return Setup(func(ctx *actor.Context[M]) actor.Behavior[M] { return f(actor.NewStash(ctx, capacity)) })
}
