package behaviors

import "github.com/understudy-go/understudy/actor"

// WithStash goes on as f says, which is given a stash for up to capacity messages that
// cannot be handled yet. What is put aside comes back with [actor.Stash.UnstashAll].
//
// The stash is that of the behaviors that f returns. Outside of [Supervise] it outlives
// the restarts inside; inside, a restart loses what is in it, and f is called anew with an
// empty one. What is lost is a dead letter.
func WithStash[M any](capacity int, f func(stash *actor.Stash[M]) actor.Behavior[M]) actor.Behavior[M] {
	return Setup(func(ctx *actor.Context[M]) actor.Behavior[M] { return f(ctx.NewStash(capacity)) })
}
