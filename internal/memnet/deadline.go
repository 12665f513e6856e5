package memnet

import (
	"sync"
	"time"
)

// The zero value is never.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

// set wakes the waiters on cond when t has passed.
func (d *deadline) set(t time.Time, cond *sync.Cond) {
	d.stop()
	d.at = t
	switch {
	case t.IsZero():
	case !t.After(time.Now()):
		cond.Broadcast()
	default:
		d.timer = time.AfterFunc(time.Until(t), func() {
			cond.L.Lock()
			defer cond.L.Unlock()
			cond.Broadcast()
		})
	}
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}
