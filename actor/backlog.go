package actor

import "time"

// A backlog says whether the actor is behind with requests, so that it does not begin those that it
// could hardly answer in time. With deadlines alone it would serve each request just before it
// ends, and most answers would come too late.
//
// This is controlled delay (K. Nichols and V. Jacobson, Controlling Queue Delay, 2012), relative to
// the deadlines of the requests: a request is to wait for at most a quarter of the time that its
// ask has. A burst is no reason to refuse anything. An actor that has found only requests that have
// waited for longer, for as long again, refuses those, until it finds one that has waited for less
// than half of that. It never refuses the last one for this. It also refuses requests with less
// time left than it needs for one. All of that ends when the actor has nothing left to do. The turn
// owns it.
type backlog struct {
	since    time.Duration // when it found the first one that has waited for too long; 0 if the last one had not
	refusing bool
	took     time.Duration // when it took the last request; 0 if it has refused one since
	typical  time.Duration // how long a request takes, with what is between; a moving average
}

// matters reports whether the backlog matters for a request with so much time left, of all. That is
// 0 for one whose ask has just begun.
func (b *backlog) matters(left, all time.Duration) bool {
	return all != 0 && (all-left > all/4 || b.since != 0 || b.typical != 0)
}

// refuses reports whether the actor does not begin a request with so much time left, of all.
func (b *backlog) refuses(c *cell, left, all, now time.Duration) bool {
	b.measure(now)
	waited := all - left
	switch {
	case waited > all/4 && b.since == 0:
		b.since = now
	case waited > all/4:
		b.refusing = b.refusing || now-b.since >= all/4
	case !b.refusing || waited < all/8:
		b.since, b.refusing = 0, false
	}
	if left < b.typical+b.typical/4 || b.refusing && waited > all/4 && moreWaits(c) {
		return true
	}
	b.took = now
	return false
}

// moreWaits reports whether the actor has more to do than the present message.
func moreWaits(c *cell) bool {
	if c.batched > 0 || c.priorities.size() > 0 {
		return true
	}
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return c.core.waiting > 0
}

// measure notes how long it took for the last request, if it took one.
func (b *backlog) measure(now time.Duration) {
	switch took := now - b.took; {
	case b.took == 0:
	case b.typical == 0:
		b.typical = took
	default:
		b.typical += (took - b.typical) / 4
	}
	b.took = 0
}

// end ends a backlog: the actor has nothing left to do. The shared empty extras are not written.
func (b *backlog) end() {
	if *b != (backlog{}) {
		*b = backlog{}
	}
}
