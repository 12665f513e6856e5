package persistence

import (
	"context"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/bubble"
	"github.com/understudy-go/understudy/internal/storeclock"
)

// maxAlarm is after which time an alarm looks at the clock again: the clock of the journal may have
// been set, and timers of the process stand still while the machine sleeps.
const maxAlarm = time.Minute

// An alarm wakes an actor when its first timer is due. Any goroutine may call its methods.
type alarm struct {
	clock *storeclock.Clock
	wake  func()

	mu    sync.Mutex // guards all below
	due   time.Time  // zero for none
	timer *time.Timer
}

// set replaces the time of the alarm. The zero time stops it.
func (a *alarm) set(due time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if due.Equal(a.due) {
		return
	}
	a.due = due
	a.arm()
}

func (a *alarm) arm() {
	if a.due.IsZero() {
		if a.timer != nil {
			a.timer.Stop()
		}
		return
	}
	wait := min(bubble.Wait(a.due.Sub(a.clock.Now())), maxAlarm)
	if a.timer == nil {
		a.timer = time.AfterFunc(wait, a.rung)
		return
	}
	a.timer.Reset(wait)
}

func (a *alarm) rung() {
	a.clock.Refresh(context.Background())
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.due.IsZero():
	case a.clock.Now().Before(a.due):
		a.arm()
	default:
		a.due = time.Time{} // the actor sets the next one
		a.wake()
	}
}
