package workflow

import (
	"context"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
)

// childSignal begins the names of the signals by which children tell their ends.
const childSignal = "child:"

// Ask asks an actor in a step, and returns its reply. request is called for each attempt. If the
// actor may not handle a request twice, request carries [Key], to be had from ctx.
func Ask[M, R any](w *Run, name string, to actor.ActorRef[M], request func(ctx context.Context, replyTo actor.ActorRef[R]) M, opts ...StepOption) (R, error) {
	return Step(w, name, func(ctx context.Context) (R, error) {
		return actor.Ask(ctx, to, func(replyTo actor.ActorRef[R]) M { return request(ctx, replyTo) })
	}, opts...)
}

// Child begins the run with that id of a type, and waits for its result, as [Await] waits. After d
// it returns [ErrTimedOut]; zero or less waits for ever. The child goes on when w is cancelled or
// ends: cancel it by a compensation if it shall not. If there is a run with that id that is no
// child of this wait, Child returns [ErrInvalid]. Both types must be started on the same nodes, in
// any order: the run is held until they are.
func Child[I, O any](w *Run, name string, of *Type[I, O], id string, input I, d time.Duration) (O, error) {
	full := w.path + name
	in, bad := seal(input, nil)
	if bad != nil {
		w.live.hold(bad)
	}
	parent := address{w.live.of.Type, w.live.of.ID, childSignal + full}
	err := Do(w, name, func(ctx context.Context) error {
		if bad := of.started(); bad != nil {
			w.live.hold(bad)
		}
		_, err := of.ask(ctx, id, command{Op: opRun, Key: w.live.asks, Value: in, Parent: parent})
		return err
	})
	if err != nil {
		return *new(O), err
	}
	ended, err := w.await(w.use("result of "+name), parent.Wait, d)
	if err != nil {
		return *new(O), err
	}
	return result[O](w.live, full, ended)
}

// tellParent sends the end of a run to its parent, until the parent has stored it.
func (in *instance) tellParent(s state) {
	if s.told() {
		return
	}
	self, parent := in.ctx.Self(), client{in.host, s.Parent.Type}
	if bad := parent.started(); bad != nil { // a moment later it may be; the timer comes again
		in.ctx.Log().Warn("parent not told of the end of the run yet", zap.String("type", in.name), zap.String("id", in.entity.ID), zap.Error(bad))
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(in.live.life, guardAfter)
		defer cancel()
		signal := command{Op: opSignal, Key: in.name + "/" + in.entity.ID + "/" + s.telling(), Name: s.Parent.Wait, Value: s.End.Out}
		_, err := parent.ask(ctx, s.Parent.ID, signal)
		if err == nil || !passes(err) { // a parent that is gone needs no telling
			self.Tell(command{Op: opTold, Key: s.telling()})
		}
	}()
}

// telling identifies what the parent is told, and for which of its incarnations: one that was
// resumed has forgotten the end that it knew.
func (s state) telling() string {
	return s.Asked + "/" + strconv.FormatInt(s.End.At.UnixNano(), 36)
}

// askedAnew notes that the parent has forgotten the end of this run, and tells it.
func (in *instance) askedAnew(s state, c command) effect {
	e := event{What: asked, Name: c.Key, At: time.Now()}
	after, stored := apply(s, e), persistence.Persist(e)
	if s.End.State != "" {
		stored = in.timed(after, stored).Then(func() { in.tellParent(after) })
	}
	return accept(stored, c, after)
}
