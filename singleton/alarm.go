package singleton

import (
	"time"

	"github.com/understudy-go/understudy/actor"
)

// An alarm rings at the earliest of some times.
type alarm struct {
	ring  func()
	timer *time.Timer
}

// set takes the place of what was set before. Zero times do not count.
func (a *alarm) set(now time.Time, times ...time.Time) {
	var at time.Time
	for _, t := range times {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	a.off()
	if !at.IsZero() {
		a.timer = time.AfterFunc(max(0, at.Sub(now)), a.ring)
	}
}

func (a *alarm) off() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// A look is the next time to look after mail that is held up: the recall may have been
// lost, or the node that gave messages back may take them by now.
type look struct {
	at    time.Time // zero when nothing is held up
	since time.Time // when it began to be
	looks int
}

var lookBackoff = actor.Backoff{Min: 10 * time.Millisecond, Max: time.Second}

// plan keeps a time that is set.
func (l *look) plan(now time.Time, heldUp bool) {
	switch {
	case !heldUp:
		l.at, l.since = time.Time{}, time.Time{}
	case l.at.IsZero():
		if l.since.IsZero() {
			l.since = now
		}
		l.at = now.Add(lookBackoff.Delay(l.looks))
		l.looks++
	}
}

// due reports whether it is time, and if so makes room for the next.
func (l *look) due(now time.Time) bool {
	if l.at.IsZero() || now.Before(l.at) {
		return false
	}
	l.at = time.Time{}
	return true
}

// views notes that views have changed: it may not take long any more.
func (l *look) views() { l.looks = 0 }
