package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/understudy-go/understudy/persistence/journal"
)

// calls tracks the calls that use a connection. The journal waits for them before it closes.
type calls struct {
	mu     sync.Mutex // guards closed; no call starts after closed is set
	closed bool

	running sync.WaitGroup
	life    context.Context // of the journal, not of a call
	stop    context.CancelFunc
}

func (c *calls) start() { c.life, c.stop = context.WithCancel(context.Background()) }

// enter must be called before a connection is used, and leave afterwards.
func (c *calls) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return journal.ErrClosed
	}
	c.running.Add(1)
	return nil
}

func (c *calls) leave() { c.running.Done() }

// bound returns a context that ends when ctx ends, and when the closing journal stops waiting.
func (c *calls) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(c.life, func() { cancel(journal.ErrClosed) })
	return ctx, func() { unhook(); cancel(nil) }
}

// end refuses new calls, and returns when all calls have ended. It cancels calls that take longer
// than patience.
func (c *calls) end(patience time.Duration) {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	timer := time.AfterFunc(patience, c.stop)
	c.running.Wait()
	timer.Stop()
	c.stop()
}

func (j *Journal) use(ctx context.Context, f func(context.Context, *pgxpool.Conn) error) error {
	if err := j.calls.enter(); err != nil {
		return err
	}
	defer j.calls.leave()
	if ctx.Err() != nil {
		return unavailable(ctx)
	}
	ctx, cancel := j.calls.bound(ctx)
	defer cancel()
	conn, err := j.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return f(ctx, conn)
}

// read is [Journal.use] for statements that only read, and are soon done.
func read(ctx context.Context, j *Journal, f func(context.Context, *pgxpool.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, j.patience)
	defer cancel()
	return j.use(ctx, f)
}

// acquire returns a connection that has answered recently.
func (j *Journal) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	conn, err := j.pool.Acquire(ctx)
	if err != nil {
		return nil, connectError(ctx, err)
	}
	return conn, nil
}

func reason(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, journal.ErrClosed) {
		return cause
	}
	return ctx.Err()
}

func unavailable(ctx context.Context) error {
	return fmt.Errorf("%w: %w", journal.ErrUnavailable, reason(ctx))
}
