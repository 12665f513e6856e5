package persistence

import "fmt"

// persist stores events. The event handler runs before, so that a panic in it stores
// nothing; commands see what it returns once the events are stored.
func (e *entity[M, E, S]) persist(events []E) error {
	req, err := e.request(events)
	if err != nil {
		return &RejectedError{ID: e.id, Err: err}
	}
	state := e.state
	for _, event := range events {
		state = e.onEvent(state, event)
	}
	switch err := e.write(req); {
	case err == nil:
		e.state, e.seq = state, req.Prev+uint64(len(events))
		return nil
	case isRejection(err):
		return &RejectedError{ID: e.id, Err: err}
	default:
		e.failure = fmt.Errorf("persist %d events of %q after %d: %w", len(events), e.id, req.Prev, err)
		return e.failure
	}
}

// write stores req. A stop does not cancel it, as it would leave the outcome unknown.
func (e *entity[M, E, S]) write(req AppendRequest) error {
	ctx, cancel := e.lasting()
	defer cancel()
	return e.retrier().do(ctx, func() error {
		return guarded(func() error { return e.journal.Append(ctx, []AppendRequest{req})[0] })
	})
}

func (e *entity[M, E, S]) retrier() retrier {
	return retrier{backoff: e.backoff, limit: e.persistTimeout, log: e.log}
}
