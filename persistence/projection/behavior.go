package projection

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/tenure"
)

// Behavior returns the behavior of the actor that runs the projection. The actor has a child for
// each worker, which restarts when it fails, and replies to commands itself. Only one actor may run
// for a projection name at a time: in a cluster, make it a singleton.
//
//	behaviors.Singleton(balances.Behavior)
func (p *Projection[E]) Behavior() actor.Behavior[Command] {
	return func(ctx *actor.Context[Command], next *actor.Next[Command]) {
		if _, is := p.handler.(fenced); is {
			tenure.Of(ctx).Fenced()
		}
		c := &coordinator[E]{Projection: p, workers: p.newWorkers()}
		for i, w := range c.workers {
			ref := actor.Spawn(ctx, w.behavior(), fmt.Sprint("worker-", i))
			ctx.Watch(ref)
			c.refs = append(c.refs, ref)
		}
		ctx.Defer(telemetry.AddSource(ctx.System(), c.families))
		ctx.Defer(runningOn(ctx.System()).add(&one{c.shown, c.retry}))
		next.OnSignal = c.onSignal
		next.OnMessage = func(_ *actor.Context[Command], cmd Command) actor.Behavior[Command] {
			c.receive(cmd)
			return nil
		}
	}
}

// A coordinator is the actor of a projection.
type coordinator[E any] struct {
	*Projection[E]
	workers []*worker[E]
	refs    []actor.ActorRef[order]
}

func (c *coordinator[E]) receive(cmd Command) {
	switch cmd := cmd.(type) {
	case GetStatus:
		cmd.ReplyTo.TellNoWait(c.status(c.workers))
	case CatchUp:
		c.catchUp(cmd)
	}
}

func (c *coordinator[E]) catchUp(cmd CatchUp) {
	caughtUp := c.onceAll(func() { cmd.ReplyTo.TellNoWait(c.status(c.workers)) })
	for _, ref := range c.refs {
		ref.Tell(order{caughtUp: caughtUp})
	}
}

// retry tries the ids again that are held back, and calls tried when all workers have done so. Any
// goroutine may call it.
func (c *coordinator[E]) retry(tried func()) {
	tried = c.onceAll(tried)
	for _, ref := range c.refs {
		ref.Tell(order{tried: tried})
	}
}

// onceAll returns a function that calls f when each worker has called it.
func (c *coordinator[E]) onceAll(f func()) func() {
	var left atomic.Int32
	left.Store(int32(len(c.refs))) //nolint:gosec // there are at most as many as slices
	return func() {
		if left.Add(-1) == 0 {
			f()
		}
	}
}

// onSignal leaves the end of a worker unhandled: a worker ends only by a final failure.
func (c *coordinator[E]) onSignal(_ *actor.Context[Command], sig actor.Signal) actor.Behavior[Command] {
	switch sig.(type) {
	case actor.Terminated, actor.ChildFailed, actor.AdaptFailed:
		return func(_ *actor.Context[Command], next *actor.Next[Command]) { next.Unhandled() }
	case actor.PostStop, actor.PreRestart:
	}
	return nil
}

type order struct {
	rest     uint64 // the number of the rest that is over; 0 for other orders
	caughtUp func() // runs once all stored events are handled; may be nil
	tried    func() // asks to try the ids again that are held back, and runs then; may be nil
}

func (w *worker[E]) behavior() actor.Behavior[order] {
	s := &workerActor[E]{worker: w}
	return func(_ *actor.Context[order], next *actor.Next[order]) {
		next.Supervise(s.begin, actor.Strategy{Backoff: w.backoff})
	}
}

// A workerActor is a worker as an actor. It survives restarts, and so do the waiting callbacks.
type workerActor[E any] struct {
	*worker[E]
	rests   uint64 // so far
	vain    int    // reads in a row that found nothing
	waiting []func()
}

func (s *workerActor[E]) begin(ctx *actor.Context[order], next *actor.Next[order]) {
	s.system, s.log, s.loaded = ctx.System(), ctx.Log(), false
	ctx.Self().Tell(order{})
	next.OnMessage = s.receive
	next.OnSignal = func(*actor.Context[order], actor.Signal) actor.Behavior[order] { return nil }
}

func (s *workerActor[E]) receive(ctx *actor.Context[order], o order) actor.Behavior[order] {
	if o.rest != 0 && o.rest != s.rests {
		return nil // an order has already ended that rest
	}
	if o.caughtUp != nil {
		s.waiting = append(s.waiting, o.caughtUp)
	}
	if o.tried != nil {
		s.tried = append(s.tried, o.tried)
		s.loaded = false
	}
	appended := s.reader.Appended()
	found, err := s.catchUp(ctx)
	if err != nil {
		return s.fail(ctx, err)
	}
	for _, caughtUp := range s.waiting {
		caughtUp()
	}
	s.waiting = nil
	s.rest(ctx, appended, found)
	return nil
}

// fail fails the actor, so that supervision restarts it, unless it is being stopped.
func (s *workerActor[E]) fail(ctx *actor.Context[order], err error) actor.Behavior[order] {
	if ctx.Err() != nil {
		return nil
	}
	return ctx.Fail(err)
}

func (s *workerActor[E]) rest(ctx *actor.Context[order], appended <-chan struct{}, found bool) {
	if s.vain++; found {
		s.vain = 0
	}
	s.rests++
	number, while := s.rests, s.polling.Delay(s.vain)
	actor.PipeToSelf(ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, sleep(ctx, while, appended)
	}, func(struct{}, error) order { return order{rest: number} })
}

func sleep(ctx context.Context, d time.Duration, appended <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-appended:
	case <-ctx.Done():
	}
	return ctx.Err()
}
