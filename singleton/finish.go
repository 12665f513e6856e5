package singleton

import (
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
)

// Finished ends the singleton for good, on purpose: return it from the instance's
// behavior, as you would return behaviors.Stopped. The instance stops, the lease is given
// back, and no manager that hears of it starts another instance, whatever happens to the
// cluster. Messages become dead letters with [ErrFinished].
//
// The members remember it for as long as one of them lives. What must be remembered
// longer, the instance writes down itself, and returns Finished when it reads it. When the
// host dies before any other member has heard of it, the singleton starts once more.
//
// Elsewhere than in an instance it is like behaviors.Stopped, also in actors that an
// instance has spawned.
func Finished[M any](ctx *actor.Context[M], next *actor.Next[M]) {
	Finish(ctx)
	next.Stop()
}

// Finish makes the singleton end for good when the instance whose context ctx is stops
// without a failure, for whatever reason. It is for behaviors that cannot return
// [Finished], such as event-sourced ones:
//
//	return persistence.Persist(Closed{}).Then(func() { singleton.Finish(ctx) }).ThenStop()
//
// It must be called inside of the instance, and does nothing elsewhere.
func Finish[M any](ctx *actor.Context[M]) {
	if e, ok := ctx.Value(endingKey{}).(ending); ok && e.path == ctx.Self().Path() {
		e.finished.Store(true)
	}
}

// An ending is in the context of an instance. What the instance spawns has it, too, so it
// says whose it is.
type ending struct {
	path     string
	finished *atomic.Bool
}

type endingKey struct{}
