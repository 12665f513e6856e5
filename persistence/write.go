package persistence

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
)

// persist begins to store the events of plan. The event handler runs before, so that a
// panic in it stores nothing; what it returns is the state once the events are stored.
func (e *entity[M, E, S]) persist(plan *Plan[E], cmd M) error {
	req, err := e.request(plan.events)
	if err != nil {
		return &RejectedError{ID: e.id, Err: err}
	}
	state := e.state
	for _, event := range plan.events {
		state = e.onEvent(state, event)
	}
	e.gate.phase = persisting
	e.start(
		func() error { return e.write(req) },
		func(err error) (actor.Behavior[M], error) {
			if err := e.written(req, state, err); err != nil {
				return nil, err
			}
			next := e.follow(plan, cmd)
			e.snapshotAfter(req.Prev)
			return next, nil
		})
	return nil
}

// write stores req. The end of the actor does not cancel it, as it would leave the
// outcome unknown.
func (e *entity[M, E, S]) write(req AppendRequest) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx.Context), e.persistTimeout)
	defer cancel()
	return e.retrier().do(ctx, func() error { return e.journal.Append(ctx, []AppendRequest{req})[0] })
}

// written makes state the one that commands see, if req has been stored.
func (e *entity[M, E, S]) written(req AppendRequest, state S, err error) error {
	switch {
	case err == nil:
		e.gate.phase = ready
		e.state, e.seq = state, req.Prev+uint64(len(req.Records))
		return nil
	case isRejection(err):
		e.gate.phase = ready
		return &RejectedError{ID: e.id, Err: err}
	}
	return e.fail(fmt.Errorf("persist %d events of %q after %d: %w", len(req.Records), e.id, req.Prev, err))
}

func (e *entity[M, E, S]) retrier() retrier {
	return retrier{backoff: e.backoff, limit: e.persistTimeout, log: e.log}
}
