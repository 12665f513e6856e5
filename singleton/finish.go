package singleton

import (
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
)

// Finish ends the singleton for good when the instance with context ctx next stops without a
// failure, for whatever reason:
//
//	singleton.Finish(ctx)
//	return behaviors.Stopped
//
// An event-sourced instance stops with an effect:
//
//	return persistence.Persist(Closed{}).Then(func() { singleton.Finish(ctx) }).ThenStop()
//
// When the instance has stopped, the lease is released, and no manager that learns of it starts
// another instance. Messages become dead letters with [ErrFinished].
//
// The members remember it as long as one of them is up. To remember it longer, let the instance
// store it, and finish again when it reads it back. If the host crashes before another member has
// learned of it, the singleton starts once more.
//
// Call Finish inside the instance. Elsewhere, including in actors that an instance has spawned, it
// does nothing.
func Finish[M any](ctx *actor.Context[M]) {
	if e, ok := ctx.Value(endingKey{}).(ending); ok && e.path == ctx.Self().Path() {
		e.finished.Store(true)
	}
}

// An ending is a value in the context of an instance. Actors that the instance spawns inherit it,
// so it contains the path of the instance.
type ending struct {
	path     string
	finished *atomic.Bool
}

type endingKey struct{}
