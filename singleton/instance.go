package singleton

import (
	"context"
	"errors"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/fence"
	"github.com/understudy-go/understudy/internal/generation"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

const instanceName = "instance"

type instance struct {
	ctx         managerContext
	seat        seat
	path        string
	stopMessage any
	hooks       generationHooks
	begins      func(generation.Generation) // called when the instance of a generation takes messages
	gate        func() error                // returns why a message must not be handled; nil without a lease

	ref      actor.AnyRef
	cell     *generationCell
	gen      generation.Generation // under which it was started
	running  bool                  // it has been started, and its end has not been seen
	begun    bool                  // it has started and takes messages; it gets none before
	finished *atomic.Bool          // it has called Finish
}

func (i *instance) start(gen generation.Generation) {
	i.finished = new(atomic.Bool)
	ctx, cell := withGeneration(i.ctx, i.path, gen, i.hooks)
	ctx = context.WithValue(ctx, endingKey{}, ending{path: i.path, finished: i.finished})
	opts := []actor.SpawnOption{extension.WithContext(ctx)}
	if i.gate != nil {
		opts = append(opts, extension.WithAdmissionCheck(i.gate))
	}
	i.ref = i.seat.spawn(func() { i.begins(gen) }, opts)
	i.ctx.Watch(i.ref)
	i.cell, i.gen = cell, gen
	i.running = true
}

// stop asks the instance to stop when it has handled the messages before, or at once.
func (i *instance) stop(now bool) {
	if !i.running { // its end has not been seen yet
		return
	}
	switch {
	case now:
		i.ctx.Stop(i.ref)
	case i.stopMessage != nil:
		i.seat.tellLast(i.stopMessage)
	default:
		i.ctx.Drain(i.ref)
	}
}

// ended returns the event for the machine, and why the instance has failed.
func (i *instance) ended(err error) (event handover.InstanceEnded, failure error) {
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
