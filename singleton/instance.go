package singleton

import (
	"context"
	"errors"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

const instanceName = "instance"

type instance struct {
	ctx         managerContext
	typed       typedContext
	path        string
	stopMessage any
	hooks       tenure.Hooks
	begins      func(tenure.Generation) // called when the instance of a generation takes messages
	gate        func() error            // returns why a message must not be handled; nil without a lease

	ref      actor.AnyRef
	tenure   *tenure.Tenure
	gen      tenure.Generation // under which it was started
	running  bool              // it has been started, and its end has not been seen
	begun    bool              // it has started and takes messages; it gets none before
	finished *atomic.Bool      // it has called Finish
}

func (i *instance) start(gen tenure.Generation) {
	i.finished = new(atomic.Bool)
	i.tenure = tenure.New(i.path, gen, i.hooks)
	ctx := context.WithValue(tenure.With(i.ctx, i.tenure), endingKey{}, ending{path: i.path, finished: i.finished})
	opts := []actor.SpawnOption{extension.WithContext(ctx)}
	if i.gate != nil {
		opts = append(opts, extension.WithAdmissionCheck(i.gate))
	}
	i.ref = i.typed.spawn(nil, instanceName, func() { i.begins(gen) }, opts)
	i.ctx.Watch(i.ref)
	i.gen = gen
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
		i.typed.tellLast(i.stopMessage)
	default:
		i.ctx.Drain(i.ref)
	}
}

// ended returns the event for the machine, and why the instance has failed.
func (i *instance) ended(err error) (event handover.InstanceEnded, failure error) {
	i.running, i.begun = false, false
	refusedBy, refused := i.tenure.Outcome()
	if err == nil {
		err = refused
	}
	forgotten := guard.Is(err, tenure.ErrForgotten) && !guard.Is(err, actor.ErrDeathPact)
	if err != nil && !forgotten {
		i.ctx.Log().Warn("singleton instance failed", zap.Error(err))
	}
	return handover.InstanceEnded{
		Forgotten: forgotten,
		Fenced:    errors.Is(err, tenure.ErrFenced) || refusedBy != tenure.Generation{},
		FencedBy:  max(tenure.Unpack(tenure.Newest(err)).Term, refusedBy.Term),
		Finished:  err == nil && i.finished.Load(),
		LeaseLost: errors.Is(err, ErrLeaseLost),
	}, err
}

// instanceBegun reports that the instance of a generation has started and takes messages.
type instanceBegun struct {
	extension.Quiet
	gen tenure.Generation
}

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
