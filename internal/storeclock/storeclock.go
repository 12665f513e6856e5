// Package storeclock has the clocks of journals that keep timers, as a process sees them.
package storeclock

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/guard"
)

const age = time.Minute

const timeout = 5 * time.Second

// A Clock goes as the clock of a journal. Between its answers it goes on by the monotonic clock of
// the process, so setting the clock of the host does not change it. Any goroutine may call its
// methods.
type Clock struct {
	ask func(context.Context) (time.Time, error)
	log *zap.Logger

	asking sync.Mutex // held during a request

	mu    sync.Mutex // guards all below
	told  time.Time  // the last answer; zero before the first
	at    time.Time  // when it came, by the monotonic clock
	tried time.Time
}

// New returns a clock that asks by told, which may block until its context ends.
func New(told func(context.Context) (time.Time, error), log *zap.Logger) *Clock {
	return &Clock{ask: told, log: log}
}

// Now returns the time of the journal, or of the host before the journal has told it.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told.IsZero() {
		return time.Now()
	}
	return c.told.Add(time.Since(c.at))
}

// Refresh asks the journal if its last answer is old. It blocks for at most timeout. If there is
// no answer, the clock goes on, and the journal is asked again after age.
func (c *Clock) Refresh(ctx context.Context) {
	c.asking.Lock()
	defer c.asking.Unlock()
	if !c.begin() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var told time.Time
	err := guard.Run(func() (err error) { told, err = c.ask(ctx); return err })
	if err != nil {
		c.log.Warn("the clock of the store does not answer; timers go by its last answer", zap.Error(err))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told, c.at = told.Round(0), time.Now()
}

func (c *Clock) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.tried.IsZero() && time.Since(c.tried) < age {
		return false
	}
	c.tried = time.Now()
	return true
}

// Agreed returns the time on which most members of a cluster agree, for what goes by the clocks of
// hosts. Package cluster provides it. It returns an error if most members have not told their time.
type Agreed func(context.Context) (time.Time, error)
