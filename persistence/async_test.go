package persistence_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/persistence/journal"
)

// An asyncFaulty is a faulty whose appends need not be waited for.
type asyncFaulty struct{ *faulty }

func (a asyncFaulty) AppendAsync(req journal.AppendRequest, done func(error)) journal.Call {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &call{cancel: cancel, done: done}
	go func() {
		c.answer(guard.Run(func() error { return a.Append(ctx, []journal.AppendRequest{req})[0] }))
	}()
	return c
}

// A call is an append that may be given up.
type call struct {
	cancel context.CancelCauseFunc
	done   func(error)
	once   sync.Once
}

func (c *call) answer(err error) { c.once.Do(func() { c.done(err) }) }

func (c *call) Cancel(cause error) {
	c.cancel(cause)
	c.answer(fmt.Errorf("%w: %w", journal.ErrUnknown, cause))
}
