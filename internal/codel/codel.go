// Package codel decides which of the requests that wait in a queue are not begun, because they
// could hardly be answered in time. With deadlines alone a queue serves each request just before it
// ends, and most answers come too late.
//
// It is controlled delay (K. Nichols and V. Jacobson, Controlling Queue Delay, 2012), relative to
// the deadlines of the requests: a request is to wait for at most a quarter of the time that its
// ask has. A burst that can be answered in time is no reason to refuse anything. A queue in which
// requests have waited for longer, for as long again, refuses them while what waits behind them
// takes more than two fifths of the time that they have left. That makes room for requests that
// have waited for less. It also refuses requests with less time left than one takes.
package codel

import "time"

// A Delay is the state of one queue. Its zero value stands for an empty queue. The owner of the
// queue sets it to that whenever the queue is empty.
type Delay struct {
	since    time.Duration // when it found the first one that has waited for too long; 0 without one
	of       time.Duration // how long the ask of that one waits in all
	last     time.Duration // when a request was begun last
	typical  time.Duration // a moving average
	refusing bool
}

// Matters reports whether Refuses may say something else than false, of a request with so much time
// left, of all. All times are of one clock. all is 0 if it is unknown.
func (d *Delay) Matters(left, all time.Duration) bool {
	return all != 0 && (all-left > all/4 || d.since != 0 || d.typical != 0)
}

// Refuses reports whether a request with so much time left, of all, is not begun now. waiting
// returns how many wait behind it.
func (d *Delay) Refuses(left, all, now time.Duration, waiting func() int) bool {
	d.observe(all-left, all, now)
	switch {
	case left < d.typical+d.typical/4 && now-d.last < all: // else one slow request would be the last one of a queue that is never empty
		return true
	case d.refusing && all-left > all/4 && d.outgrows(waiting(), left):
		return true
	}
	d.last = now
	return false
}

// Only a request that has waited for little, by the measure of the one that has waited for too
// long, ends what that began: callers with long deadlines must not hide that those with short ones
// get no answer.
func (d *Delay) observe(waited, all, now time.Duration) {
	switch {
	case waited > all/4 && d.since == 0:
		d.since, d.of = now, all
	case waited > all/4:
		d.refusing = d.refusing || now-d.since >= all/4
	case waited < d.of/8, !d.refusing && waited <= d.of/4:
		d.since, d.of, d.refusing = 0, 0, false
	}
}

// outgrows compares with two fifths of the time that the request has left. With more, longer bursts
// would be answered, and under lasting overload all answers would come later.
func (d *Delay) outgrows(n int, left time.Duration) bool {
	return n > 0 && (d.typical == 0 || 5*time.Duration(n)*d.typical > 2*left)
}

// Took notes how long a request took.
func (d *Delay) Took(took time.Duration) {
	if d.typical == 0 {
		d.typical = took
	} else {
		d.typical += (took - d.typical) / 4
	}
}
