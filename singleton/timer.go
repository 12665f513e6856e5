package singleton

import (
	"time"

	"github.com/understudy-go/understudy/internal/bubble"
)

// A timer calls ring once, at the time that was set last.
type timer struct {
	ring func()
	*time.Timer
}

// set replaces the time that was set before. With the zero time the timer does not ring.
func (t *timer) set(now, at time.Time) {
	t.stop()
	if !at.IsZero() {
		t.Timer = time.AfterFunc(bubble.Wait(at.Sub(now)), t.ring)
	}
}

func (t *timer) stop() {
	if t.Timer != nil {
		t.Stop()
	}
}
