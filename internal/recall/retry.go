package recall

import (
	"time"

	"github.com/understudy-go/understudy/actor"
)

// A RetryTimer says when to try again what may have been lost on the way: a recall, or messages to
// a node that has returned some.
type RetryTimer struct {
	at      time.Time // zero when nothing waits
	since   time.Time // when it began to wait
	retries int
}

var retryBackoff = actor.Backoff{Min: 10 * time.Millisecond, Max: time.Second}

// Plan sets the time of the next retry while something waits, unless it is set already.
func (r *RetryTimer) Plan(now time.Time, waits bool) {
	switch {
	case !waits:
		r.at, r.since = time.Time{}, time.Time{}
	case r.at.IsZero():
		if r.since.IsZero() {
			r.since = now
		}
		r.at = now.Add(retryBackoff.Delay(r.retries))
		r.retries++
	}
}

// Due reports whether it is time to retry, and if so clears the time.
func (r *RetryTimer) Due(now time.Time) bool {
	if r.at.IsZero() || now.Before(r.at) {
		return false
	}
	r.at = time.Time{}
	return true
}

// At returns when the next retry is due; zero when none is.
func (r *RetryTimer) At() time.Time { return r.at }

// Since returns when the waiting began; zero when nothing waits.
func (r *RetryTimer) Since() time.Time { return r.since }

// Reset starts the backoff again, because a changed view may have helped.
func (r *RetryTimer) Reset() { r.retries = 0 }

// Earliest returns the earliest of those times that are not zero; zero when all are.
func Earliest(times ...time.Time) (first time.Time) {
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}
