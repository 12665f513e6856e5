package actor

import (
	"time"

	"github.com/understudy-go/understudy/internal/codel"
)

// A backlog says whether the actor is behind with requests, so that it does not begin those that it
// could hardly answer in time. The turn owns it.
type backlog struct {
	codel.Delay
	took time.Duration // when it took the request that it handles; 0 if it does not measure that
}

// refuses reports whether the actor does not begin a request with so much time left, of all.
func (b *backlog) refuses(c *cell, left, all, now time.Duration) bool {
	b.measure(now) // of a handler that has paused
	if b.Refuses(left, all, now, func() int { return waiting(c) }) {
		return true
	}
	b.took = now
	return false
}

// waiting returns how many messages wait for the actor, beside the present one.
func waiting(c *cell) int {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return int(c.batched) + c.priorities.size() + int(c.core.waiting)
}

// measure notes how long the request took that the actor has taken last.
func (b *backlog) measure(now time.Duration) {
	if b.took != 0 {
		b.Took(now - b.took)
		b.took = 0
	}
}

// end ends a backlog: the actor has nothing left to do. The shared empty extras are not written.
func (b *backlog) end() {
	if *b != (backlog{}) {
		*b = backlog{}
	}
}
