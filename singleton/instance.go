package singleton

import (
	"context"
	"errors"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/fence"
	"github.com/understudy-go/understudy/singleton/generation"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// instanceName is the name of every instance, below its manager.
const instanceName = "instance"

// An instance is the singleton itself, a child of its manager.
type instance[M any] struct {
	ctx         *actor.Context[M]
	factory     func() actor.Behavior[M]
	stopMessage any
	hooks       generationHooks
	begins      func(generation.Generation) // called when the instance of a generation takes messages
	gate        func() error                // returns why a message must not be handled; nil without a lease

	ref      actor.ActorRef[M]
	cell     *generationCell
	gen      generation.Generation // under which it was started
	running  bool                  // it has been started, and its end has not been seen
	begun    bool                  // it has started and takes messages; it gets none before
	finished *atomic.Bool          // it has called Finish
}

func (i *instance[M]) start(gen generation.Generation) {
	i.finished = new(atomic.Bool)
	path := i.ctx.Self().Path() + "/" + instanceName
	ctx, cell := withGeneration(i.ctx, path, gen, i.hooks)
	ctx = context.WithValue(ctx, endingKey{}, ending{path: path, finished: i.finished})
	first := func(ctx *actor.Context[M], next *actor.Next[M]) {
		begun := ctx.Notify(func() actor.Behavior[M] {
			i.begins(gen)
			return nil
		})
		if b := i.factory(); b != nil {
			b(ctx, next)
		}
		begun() // delivered only when the start succeeds
	}
	opts := []actor.SpawnOption{extension.WithContext(ctx)}
	if i.gate != nil {
		opts = append(opts, extension.WithAdmissionCheck(i.gate))
	}
	i.ref = actor.Spawn(i.ctx, first, instanceName, opts...)
	i.ctx.Watch(i.ref)
	i.cell, i.gen = cell, gen
	i.running = true
}

// stop asks the instance to stop when it has handled the messages before, or at once.
func (i *instance[M]) stop(now bool) {
	if !i.running { // its end has not been seen yet
		return
	}
	switch msg, ok := i.stopMessage.(M); {
	case now:
		i.ctx.Stop(i.ref)
	case ok:
		i.ref.Tell(msg)
	default:
		i.ctx.Drain(i.ref)
	}
}

// ended notes the end of the instance. It returns the event for the machine, and why the instance
// has failed.
func (i *instance[M]) ended(err error) (event handover.InstanceEnded, failure error) {
	i.running, i.begun = false, false
	refusedBy, refused := i.cell.outcome()
	if err == nil {
		err = refused
	}
	if err != nil {
		i.ctx.Log().Warn("singleton instance failed", zap.Error(err))
	}
	return handover.InstanceEnded{
		Fenced:    errors.Is(err, fence.ErrFenced) || refusedBy != generation.Generation{},
		FencedBy:  max(generation.Unpack(fence.Newest(err)).Term, refusedBy.Term),
		Finished:  err == nil && i.finished.Load(),
		LeaseLost: errors.Is(err, ErrLeaseLost),
	}, err
}

// instanceBegun reports that the instance of a generation has started and takes messages.
type instanceBegun struct {
	quiet
	gen generation.Generation
}
