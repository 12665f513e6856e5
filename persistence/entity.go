package persistence

import (
	"context"
	"crypto/rand"
	"sync"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
)

// An entity is one incarnation of an event-sourced actor. It belongs to the actor; what
// works in the background leaves its result in results and wakes the actor.
type entity[M, E, S any] struct {
	*definition[M, E, S]
	ctx    *actor.Context[M]
	log    *zap.Logger
	writer WriterID

	gate    gate[M]
	failure error // of the journal; nothing goes on after it
	epoch   uint64
	seq     uint64 // of the last event that is in state
	state   S

	results   chan result[M] // of one, as one thing is under way at a time
	wake      actor.ActorRef[wakeUp]
	tasks     sync.WaitGroup  // all that works in the background
	life      context.Context // of this incarnation, where the actor's is of all
	over      context.CancelFunc
	snapshots *snapshotter // nil without
}

// A result goes on with what was under way, inside the actor.
type result[M any] func() (actor.Behavior[M], error)

// wakeUp tells the actor to look at results. It carries nothing, so nothing is lost with
// it when a bounded mailbox drops it: then there is another message, which looks too.
type wakeUp struct{}

func newEntity[M, E, S any](d *definition[M, E, S], ctx *actor.Context[M]) *entity[M, E, S] {
	e := &entity[M, E, S]{
		definition: d,
		ctx:        ctx,
		log:        ctx.Log().With(zap.String("id", d.id)),
		gate:       gate[M]{capacity: d.stashCapacity},
		state:      d.initial,
		results:    make(chan result[M], 1),
	}
	_, _ = rand.Read(e.writer[:]) // never fails
	e.life, e.over = context.WithCancel(ctx.Context)
	e.wake = actor.Handle(ctx, func(wakeUp) actor.Behavior[M] { return e.proceed() })
	if d.retention != nil {
		e.snapshots = e.newSnapshotter()
	}
	return e
}

// receive runs cmd, or lets it wait for its turn.
func (e *entity[M, E, S]) receive(_ *actor.Context[M], cmd M) actor.Behavior[M] {
	switch {
	case e.failure != nil: // supervision has resumed what cannot be resumed
		return e.ctx.Fail(e.failure)
	case e.gate.free():
		if next := e.settle(e.run(cmd)); next != nil {
			return next
		}
	case !e.gate.wait(cmd):
		e.deadLetter(cmd, actor.ErrStashFull)
	}
	return e.proceed()
}

// proceed goes on with what has come to a result and with the commands that wait, as
// far as it can now.
func (e *entity[M, E, S]) proceed() actor.Behavior[M] {
	defer e.resumable()
	for e.life.Err() == nil {
		next, more := e.step()
		if next != nil || !more {
			return next
		}
	}
	return nil
}

func (e *entity[M, E, S]) step() (next actor.Behavior[M], more bool) {
	select {
	case goOn := <-e.results:
		return e.settle(goOn()), true
	default:
	}
	if cmd, ok := e.gate.next(); ok {
		return e.settle(e.run(cmd)), true
	}
	return nil, false
}

// resumable sees that commands which still wait are looked at again. There are some when
// one before them has failed, and supervision may resume.
func (e *entity[M, E, S]) resumable() {
	if e.gate.runnable() && e.life.Err() == nil {
		e.wake.Tell(wakeUp{})
	}
}

func (e *entity[M, E, S]) settle(next actor.Behavior[M], err error) actor.Behavior[M] {
	if err != nil {
		return e.ctx.Fail(err)
	}
	return next
}

// run does what a command leads to, as far as it can now.
func (e *entity[M, E, S]) run(cmd M) (actor.Behavior[M], error) {
	plan := planOf(e.onCommand(e.ctx, e.state, cmd))
	if len(plan.events) > 0 {
		return nil, e.persist(plan, cmd)
	}
	return e.follow(plan, cmd), nil
}

// follow does what plan wants done once its events are durable.
func (e *entity[M, E, S]) follow(plan *Plan[E], cmd M) actor.Behavior[M] {
	if plan.unhandled {
		e.ctx.System().EventStream().Publish(actor.UnhandledMessage{Recipient: e.ctx.Self().Path(), Message: cmd})
	}
	if plan.stash && !e.gate.stash(cmd) {
		e.deadLetter(cmd, actor.ErrStashFull)
	}
	for _, f := range plan.then {
		f()
	}
	if plan.unstash {
		e.gate.unstash()
	}
	if plan.stop {
		e.gate.phase = ended
		return func(_ *actor.Context[M], next *actor.Next[M]) { next.Stop() }
	}
	return nil
}

// start does work in the background, and goes on with then inside the actor.
func (e *entity[M, E, S]) start(work func() error, then func(error) (actor.Behavior[M], error)) {
	background(&e.tasks, work, func(err error) {
		e.results <- func() (actor.Behavior[M], error) { return then(err) }
		if e.life.Err() == nil { // else it is for end
			e.wake.Tell(wakeUp{})
		}
	})
}
