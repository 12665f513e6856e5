package actor

import (
	"math"
	"math/rand/v2"
	"time"
)

// WithTimeSampling times the messages of one in every turns, chosen at random, for the metric
// understudy_message_processing_seconds. A turn is one run of an actor through its mailbox. The
// default is 64. With 1 every message is timed, which costs some 50 ns each; with zero or less,
// none.
func WithTimeSampling(every int) Option {
	return func(s *System) { s.scheduler.timing = timing{every: every} }
}

// A timing says which turns are timed: each with the same probability, whatever the turns before it
// were. Turns that take long, for which new runners are started, are therefore timed as often as
// others, and no pattern of turns hides an actor. In a timed turn each message is timed by itself,
// so that a slow one does not disappear in an average.
type timing struct {
	every int // 0 for none
}

const defaultTiming = 64

// The result counts the timed turn, and is geometrically distributed.
func (t timing) gap() int {
	switch {
	case t.every <= 0:
		return math.MaxInt
	case t.every == 1:
		return 1
	}
	passes := math.Log1p(-rand.Float64()) / math.Log1p(-1/float64(t.every)) //nolint:gosec // need not be secret
	return 1 + int(passes)
}

func (t timing) due(r *runner) bool {
	r.untilTimed--
	if r.untilTimed > 0 {
		return false
	}
	r.untilTimed = t.gap()
	return true
}

// timedWork is work, message by message. Messages whose handler panics or never returns are not
// timed.
func timedWork(c *cell, n int, r *runner) (more bool) {
	began := time.Since(epoch)
	for last := began; n > 0; n-- {
		c.tally.flush()
		if !c.work(1, r) {
			return false
		}
		now := time.Since(epoch)
		if c.tally.handled > 0 {
			c.tally.counts.of.processing.ObserveTimes(now-last, uint64(c.tally.handled))
		}
		if now-began >= maxTurn && !c.core.sys.scheduler.virtual && c.batched > 0 {
			r.usedUp = true
			return true
		}
		last = now
	}
	return true
}
