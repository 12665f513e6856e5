package jetstream

import (
	"context"
	"errors"

	"github.com/understudy-go/understudy/persistence/journal"
)

// begin begins a call. Its context ends when ctx ends, and when j is closed. The caller must call
// end.
func (j *Journal) begin(ctx context.Context) (_ context.Context, end context.CancelFunc, err error) {
	switch {
	case j.closed.Err() != nil:
		return nil, nil, journal.ErrClosed
	case ctx.Err() != nil:
		return nil, nil, unavailable(ctx, nil)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(j.closed, func() { cancel(journal.ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }, nil
}

// call runs f as a call on id that changes it.
func (j *Journal) call(ctx context.Context, op, id string, f func(context.Context) error) error {
	ctx, end, err := j.begin(ctx)
	if err != nil {
		return wrap(op, id, err)
	}
	defer end()
	if err = journal.ValidateID(id); err == nil {
		err = ended(ctx, f(ctx))
	}
	return wrap(op, id, err)
}

// ended returns err, or ErrClosed if the call ended because the journal was closed and nothing was
// stored.
func ended(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), journal.ErrClosed) && !errors.Is(err, journal.ErrUnknown) {
		return journal.ErrClosed
	}
	return err
}
