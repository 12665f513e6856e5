package persistence

import (
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/tenure"
)

// An idleness ends an actor that has had no command for some time. A nil idleness does nothing.
// Only the actor uses it, except for its timer.
type idleness struct {
	after time.Duration
	since time.Time // of the last command
	sure  bool      // the mailbox was empty at the last check
	timer *time.Timer
}

// beginIdleness starts the timer, unless the actor is the instance of a singleton: its manager
// would start it again at once.
func (e *entity) beginIdleness() {
	if e.PassivateAfter == 0 {
		return
	}
	if tenure.Of(e.ctx).IsOf(e.self.Path()) {
		e.caller.log.Warn("PassivateAfter is ignored: the manager of a singleton would start the instance again")
		return
	}
	e.idleness = &idleness{
		after: e.PassivateAfter, since: time.Now(),
		timer: time.AfterFunc(e.PassivateAfter, e.wake),
	}
}

func (i *idleness) busy() {
	if i != nil {
		i.since, i.sure = time.Now(), false
	}
}

// later lets the timer ring again: it may have rung while there was something to do.
func (i *idleness) later() {
	if i != nil {
		i.busy()
		i.timer.Reset(i.after)
	}
}

func (i *idleness) end() {
	if i != nil {
		i.timer.Stop()
	}
}

// rest ends the actor if it is idle. It checks twice: the second check is queued behind everything
// that was in the mailbox at the first, so that commands that have arrived meanwhile are handled.
func (e *entity) rest() outcome {
	i := e.idleness
	if i == nil {
		return outcome{}
	}
	left := i.after - time.Since(i.since)
	switch {
	case left > 0:
		i.timer.Reset(left)
	case len(e.commands.stashed) > 0, e.timers.any(): // they would be lost, or late
		i.timer.Reset(i.after)
	case !i.sure:
		i.sure = true
		e.wake()
	default:
		e.caller.log.Debug("passivated", zap.Uint64("seq", e.seq))
		return outcome{stop: true}
	}
	return outcome{}
}
