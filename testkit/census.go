package testkit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// A Census counts the running instances of behaviors in the whole process. An instance counts from
// before the first line of its behavior until after its PostStop, or until its node crashes, as by
// clustertest.Cluster.Crash. A restart by supervision inside the behavior does not end it.
type Census struct {
	mu       sync.Mutex // guards all below
	living   map[*instance]bool
	peak     int
	started  int
	timeline []CensusEvent
}

type instance struct {
	path   string
	system *actor.System
}

// A CensusEvent is the start or the end of one instance.
type CensusEvent struct {
	Time    time.Time
	Path    string // of the actor
	Started bool   // else it ended
	Running int    // afterwards
}

// NewCensus returns an empty census. If the test fails, it logs the timeline.
func NewCensus(t testing.TB) *Census {
	c := &Census{living: make(map[*instance]bool)}
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
			i := &instance{path: ctx.Self().Path(), system: ctx.System()}
			c.begin(i)
			ctx.Defer(func() { c.end(i) })
			b(ctx, next)
		}
	}
}

// Running returns how many instances run now.
func (c *Census) Running() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endHalted()
	return len(c.living)
}

// Peak returns the largest number of instances that ran at once.
func (c *Census) Peak() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peak
}

// Started returns how many instances have started.
func (c *Census) Started() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started
}

// Timeline returns all starts and ends, in order.
func (c *Census) Timeline() []CensusEvent {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endHalted()
	return slices.Clone(c.timeline)
}

// String returns the timeline, one line for each event.
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

func (c *Census) begin(i *instance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endHalted()
	c.living[i] = true
	c.started++
	c.peak = max(c.peak, len(c.living))
	c.note(i, time.Now(), true)
}

func (c *Census) end(i *instance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endHalted()
	c.endAt(i, time.Now())
}

// The earliest are first. c.mu is held.
func (c *Census) endHalted() {
	ended := map[*instance]time.Time{}
	for i := range c.living {
		if at, halted := extension.Halted(i.system); halted {
			ended[i] = at
		}
	}
	for _, i := range slices.SortedFunc(maps.Keys(ended), func(a, b *instance) int {
		return cmp.Or(ended[a].Compare(ended[b]), cmp.Compare(a.path, b.path))
	}) {
		c.endAt(i, ended[i])
	}
}

// The instance has not ended. c.mu is held.
func (c *Census) endAt(i *instance, at time.Time) {
	if c.living[i] {
		delete(c.living, i)
		c.note(i, at, false)
	}
}

func (c *Census) note(i *instance, at time.Time, started bool) {
	c.timeline = append(c.timeline, CensusEvent{Time: at, Path: i.path, Started: started, Running: len(c.living)})
}
