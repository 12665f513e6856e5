package singleton

import (
	"context"
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
// Elsewhere than in an instance it is like behaviors.Stopped.
func Finished[M any](ctx *actor.Context[M], next *actor.Next[M]) {
	if f, ok := ctx.Value(finishedKey{}).(*atomic.Bool); ok {
		f.Store(true)
	}
	next.Stop()
}

type finishedKey struct{}

// withFinished returns a context in which [Finished] sets f.
func withFinished(ctx context.Context, f *atomic.Bool) context.Context {
	return context.WithValue(ctx, finishedKey{}, f)
}
