package persistence

import (
	"fmt"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
)

// end waits for a write under way and does what was to follow it. All else is given up.
func (e *entity[M, E, S]) end() {
	defer e.tasks.Wait()
	reason := actor.ErrTerminated
	if e.ctx.Err() == nil {
		reason = fmt.Errorf("%w: the actor was restarted while the command waited", actor.ErrDropped)
	}
	defer e.abandon(reason)
	e.over()
	if e.gate.phase != persisting {
		return
	}
	if _, err := (<-e.results)(); err != nil {
		e.log.Error("write under way when the actor ended has failed", zap.Error(err))
	}
}

// fail ends the entity for good: without an answer of the journal, nobody knows its state.
func (e *entity[M, E, S]) fail(err error) error {
	e.gate.phase, e.failure = ended, err
	e.abandon(err)
	return err
}

// abandon gives up the commands that wait.
func (e *entity[M, E, S]) abandon(reason error) {
	for _, cmd := range e.gate.drain() {
		e.deadLetter(cmd, reason)
	}
}

func (e *entity[M, E, S]) deadLetter(cmd M, reason error) {
	e.ctx.System().DeadLetter(e.ctx.Self().String(), cmd, reason)
}
