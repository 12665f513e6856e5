package persistence

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
)

// An entity is one incarnation of an event-sourced actor, and belongs to it.
type entity[M, E, S any] struct {
	*definition[M, E, S]
	ctx    *actor.Context[M]
	log    *zap.Logger
	writer WriterID

	failure error // of the journal; nothing goes on after it
	epoch   uint64
	seq     uint64 // of the last event that is in state
	state   S
	turn    []M // commands to be run now, in order
	stashed []M // commands put aside, in order

	tasks     sync.WaitGroup // snapshots that are being saved
	snapshots *snapshotter   // nil without
}

func newEntity[M, E, S any](d *definition[M, E, S], ctx *actor.Context[M]) *entity[M, E, S] {
	e := &entity[M, E, S]{
		definition: d,
		ctx:        ctx,
		log:        ctx.Log().With(zap.String("id", d.id)),
		state:      d.initial,
	}
	_, _ = rand.Read(e.writer[:]) // never fails
	if d.retention != nil {
		e.snapshots = e.newSnapshotter()
	}
	return e
}

// receive runs cmd, and what it unstashes.
func (e *entity[M, E, S]) receive(_ *actor.Context[M], cmd M) actor.Behavior[M] {
	if e.failure != nil { // supervision has resumed what cannot be resumed
		return e.ctx.Fail(e.failure)
	}
	e.turn = append(e.turn, cmd)
	for len(e.turn) > 0 {
		cmd, e.turn = e.turn[0], e.turn[1:]
		next, err := e.run(cmd)
		if err != nil {
			return e.ctx.Fail(err)
		}
		if next != nil {
			return next
		}
	}
	e.turn = nil
	return nil
}

// run does all that a command leads to.
func (e *entity[M, E, S]) run(cmd M) (actor.Behavior[M], error) {
	plan := planOf(e.onCommand(e.ctx, e.state, cmd))
	if len(plan.events) == 0 {
		return e.follow(plan, cmd), nil
	}
	prev := e.seq
	if err := e.persist(plan.events); err != nil {
		return nil, err
	}
	next := e.follow(plan, cmd)
	e.snapshotAfter(prev)
	return next, nil
}

// follow does what plan wants done once its events are durable.
func (e *entity[M, E, S]) follow(plan *Plan[E], cmd M) actor.Behavior[M] {
	if plan.unhandled {
		e.ctx.System().EventStream().Publish(actor.UnhandledMessage{Recipient: e.ctx.Self().Path(), Message: cmd})
	}
	if plan.stash {
		e.stash(cmd)
	}
	for _, f := range plan.then {
		f()
	}
	if plan.unstash {
		e.turn, e.stashed = append(e.stashed, e.turn...), nil
	}
	if plan.stop {
		return func(_ *actor.Context[M], next *actor.Next[M]) { next.Stop() }
	}
	return nil
}

func (e *entity[M, E, S]) stash(cmd M) {
	if len(e.stashed) == e.stashCapacity {
		e.deadLetter(cmd, actor.ErrStashFull)
		return
	}
	e.stashed = append(e.stashed, cmd)
}

// end gives up what was put aside, and waits for what works in the background.
func (e *entity[M, E, S]) end() {
	defer e.tasks.Wait()
	reason := actor.ErrTerminated
	if e.ctx.Err() == nil {
		reason = fmt.Errorf("%w: the actor was restarted while the command was put aside", actor.ErrDropped)
	}
	for _, cmd := range append(e.turn, e.stashed...) {
		e.deadLetter(cmd, reason)
	}
}

func (e *entity[M, E, S]) deadLetter(cmd M, reason error) {
	e.ctx.System().DeadLetter(e.ctx.Self().String(), cmd, reason)
}

// begin recovers, and then takes commands. A stop gives recovery up.
func (e *entity[M, E, S]) begin(next *actor.Next[M]) {
	switch err := e.recover(e.ctx.Context); {
	case err == nil:
		next.OnMessage, next.OnSignal = e.receive, onSignal[M]
	case e.ctx.Err() != nil:
		next.Stop()
	default:
		next.Fail(err)
	}
}

// lasting returns a context that outlasts a stop, for a bounded time.
func (e *entity[M, E, S]) lasting() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(e.ctx.Context), e.persistTimeout)
}
