package singleton

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/fence"
)

// An instance is the singleton itself, a child of its manager.
type instance[M any] struct {
	ctx         *actor.Context[M]
	factory     func() actor.Behavior[M]
	stopMessage any
	fenced      func(Generation) // the instance of that generation fences its writes

	ref actor.ActorRef[M]
}

func (i *instance[M]) start(gen Generation) {
	ctx := context.WithValue(i.ctx, generationKey{}, gen)
	ctx = fence.With(ctx, func() { i.fenced(gen) })
	first := func(ctx *actor.Context[M], next *actor.Next[M]) {
		if b := i.factory(); b != nil {
			b(ctx, next)
		}
	}
	i.ref = actor.Spawn(i.ctx, first, "instance", actor.WithContext(ctx))
	i.ctx.Watch(i.ref)
}

// stop asks the instance to stop when it has handled what it was told, or at once.
func (i *instance[M]) stop(now bool) {
	switch msg, ok := i.stopMessage.(M); {
	case now:
		i.ctx.Stop(i.ref)
	case ok:
		i.ref.Tell(msg)
	default:
		i.ctx.Drain(i.ref)
	}
}

// ended says what the end of the instance means to the machine.
func (i *instance[M]) ended(err error) event {
	if err != nil {
		i.ctx.Log().Warn("singleton instance failed", zap.Error(err))
	}
	return instanceEnded{fenced: errors.Is(err, fence.ErrFenced)}
}
