package storeclock

import (
	"context"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/bubble"
)

// The clock may have been set, and timers of the process stand still while the machine sleeps.
const maxWait = time.Minute

// A smaller step is a correction.
const setBack = time.Second

// A Timer calls a function when a clock shows a time, and when the clock was set back. Any
// goroutine may call its methods.
type Timer struct {
	clock *Clock
	wake  func()

	mu    sync.Mutex // guards all below
	due   time.Time  // zero for none
	timer *time.Timer
}

// NewTimer returns a timer that calls wake, which must not block or call Set.
func NewTimer(c *Clock, wake func()) *Timer { return &Timer{clock: c, wake: wake} }

// Set replaces the time of the timer. The zero time stops it.
func (t *Timer) Set(due time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if due.Equal(t.due) {
		return
	}
	t.due = due
	t.arm()
}

func (t *Timer) arm() {
	if t.due.IsZero() {
		if t.timer != nil {
			t.timer.Stop()
		}
		return
	}
	wait := min(bubble.Wait(t.due.Sub(t.clock.Now())), maxWait)
	if t.timer == nil {
		t.timer = time.AfterFunc(wait, t.expired)
		return
	}
	t.timer.Reset(wait)
}

func (t *Timer) expired() {
	before := t.clock.Now()
	t.clock.Refresh(context.Background())
	now := t.clock.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.due.IsZero():
	case now.Before(t.due) && now.After(before.Add(-setBack)):
		t.arm()
	default:
		t.due = time.Time{} // wake has the next one set
		t.wake()
	}
}
