package persistence

import (
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/fence"
)

// An idleness ends an actor that has not been told anything for some time. A nil one does
// not. It belongs to the actor, but for the timer.
type idleness struct {
	after time.Duration
	since time.Time // the last command
	sure  bool      // nothing else was in the mailbox when it was last looked at
	timer *time.Timer
}

// beginIdleness begins to count. The instance of a singleton is left alone: its manager
// would start it again at once.
func (e *entity[M, E, S]) beginIdleness() {
	if e.PassivateAfter == 0 {
		return
	}
	if fence.IsInstance(e.ctx, e.ctx.Self().Path()) {
		e.log.Warn("PassivateAfter is ignored: the manager of a singleton would start the instance again")
		return
	}
	e.idleness = &idleness{
		after: e.PassivateAfter, since: time.Now(),
		timer: time.AfterFunc(e.PassivateAfter, e.wake),
	}
}

// busy says that there was a command.
func (i *idleness) busy() {
	if i != nil {
		i.since, i.sure = time.Now(), false
	}
}

func (i *idleness) end() {
	if i != nil {
		i.timer.Stop()
	}
}

// rest ends the actor if it is idle. It looks twice, the second time from behind all that
// was in the mailbox at the first, so that commands that have come meanwhile are handled.
func (e *entity[M, E, S]) rest() actor.Behavior[M] {
	i := e.idleness
	if i == nil {
		return nil
	}
	left := i.after - time.Since(i.since)
	switch {
	case left > 0:
		i.timer.Reset(left)
	case len(e.stashed) > 0: // would be lost
		i.timer.Reset(i.after)
	case !i.sure:
		i.sure = true
		e.wake()
	default:
		e.log.Debug("passivated", zap.Uint64("seq", e.seq))
		return func(_ *actor.Context[M], next *actor.Next[M]) { next.Stop() }
	}
	return nil
}
