package testkit

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/understudy-go/understudy/actor"
)

// A Census counts the living instances of behaviors, wherever in the process they run.
// An instance counts from before the first line of its behavior until after its PostStop;
// restarts by supervision inside the behavior do not end it.
type Census struct {
	mu       sync.Mutex // guards all below
	running  int
	peak     int
	started  int
	timeline []CensusEvent
}

// A CensusEvent is the start or the end of one instance.
type CensusEvent struct {
	Time    time.Time
	Path    string // of the actor
	Started bool   // else it ended
	Running int    // afterwards
}

// NewCensus returns a census that has counted nobody. When the test fails, its timeline
// is logged.
func NewCensus(t testing.TB) *Census {
	c := &Census{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("census:\n%s", c)
		}
	})
	return c
}

// Counted returns a factory whose instances are counted by c.
func Counted[M any](c *Census, factory func() actor.Behavior[M]) func() actor.Behavior[M] {
	return func() actor.Behavior[M] {
		b := factory()
		return func(ctx *actor.Context[M], next *actor.Next[M]) {
			path := ctx.Self().Path()
			c.count(path, true)
			ctx.Defer(func() { c.count(path, false) })
			b(ctx, next)
		}
	}
}

// Running returns how many live now.
func (c *Census) Running() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running
}

// Peak returns how many have lived at once, at most.
func (c *Census) Peak() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peak
}

// Started returns how many have ever started.
func (c *Census) Started() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started
}

// Timeline returns all starts and ends, in order.
func (c *Census) Timeline() []CensusEvent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.timeline)
}

// String returns the timeline, a line each.
func (c *Census) String() string {
	var b strings.Builder
	for _, e := range c.Timeline() {
		what := "ended"
		if e.Started {
			what = "started"
		}
		fmt.Fprintf(&b, "%s  %-7s  %s  (%d running)\n", e.Time.Format("15:04:05.000"), what, e.Path, e.Running)
	}
	return b.String()
}

func (c *Census) count(path string, started bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if started {
		c.running++
		c.started++
		c.peak = max(c.peak, c.running)
	} else {
		c.running--
	}
	c.timeline = append(c.timeline, CensusEvent{Time: time.Now(), Path: path, Started: started, Running: c.running})
}
