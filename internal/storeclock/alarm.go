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

// An Alarm calls a function when a clock shows a time, and when the clock was set back. Any
// goroutine may call its methods.
type Alarm struct {
	clock *Clock
	wake  func()

	mu    sync.Mutex // guards all below
	due   time.Time  // zero for none
	timer *time.Timer
}

// NewAlarm returns an alarm that calls wake, which must not block or call Set.
func NewAlarm(c *Clock, wake func()) *Alarm { return &Alarm{clock: c, wake: wake} }

// Set replaces the time of the alarm. The zero time stops it.
func (a *Alarm) Set(due time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if due.Equal(a.due) {
		return
	}
	a.due = due
	a.arm()
}

func (a *Alarm) arm() {
	if a.due.IsZero() {
		if a.timer != nil {
			a.timer.Stop()
		}
		return
	}
	wait := min(bubble.Wait(a.due.Sub(a.clock.Now())), maxWait)
	if a.timer == nil {
		a.timer = time.AfterFunc(wait, a.rung)
		return
	}
	a.timer.Reset(wait)
}

func (a *Alarm) rung() {
	before := a.clock.Now()
	a.clock.Refresh(context.Background())
	now := a.clock.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.due.IsZero():
	case now.Before(a.due) && now.After(before.Add(-setBack)):
		a.arm()
	default:
		a.due = time.Time{} // wake has the next one set
		a.wake()
	}
}
