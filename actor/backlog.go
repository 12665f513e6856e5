package actor

import (
	"time"

	"github.com/understudy-go/understudy/internal/codel"
)

// The turn owns it.
type backlog struct {
	codel.Delay
	took time.Duration // when it took the request that it handles; 0 if it does not measure that
}

// left is what is left of all, the time that the ask had.
func (b *backlog) refuses(c *cell, left, all, now time.Duration) bool {
	b.measure(now) // of a handler that has paused
	if b.Refuses(left, all, now, func() int { return waiting(c) }) {
		return true
	}
	b.took = now
	return false
}

// The present message does not count.
func waiting(c *cell) int {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return int(c.batched) + c.priorities.size() + int(c.core.waiting)
}

func (b *backlog) measure(now time.Duration) {
	if b.took != 0 {
		b.Took(now - b.took)
		b.took = 0
	}
}

// The shared empty extras are not written.
func (b *backlog) end() {
	if *b != (backlog{}) {
		*b = backlog{}
	}
}
