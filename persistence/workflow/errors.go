package workflow

import (
	"errors"

	"github.com/understudy-go/understudy/actor"
)

var (
	// ErrNotFound: no run has that id. Begin it with [Type.Run] first.
	ErrNotFound = errors.New("workflow: no run has that id")
	// ErrEnded: the run has ended, so it takes no signals, and cannot be cancelled.
	ErrEnded = errors.New("workflow: the run has ended")
	// ErrCancelled: the run was cancelled. Steps, sleeps and awaits that begin after that return
	// it, and so does the result of the run. The text names the operator and the reason.
	ErrCancelled = errors.New("workflow: the run was cancelled")
	// ErrFailed: an operator has ended the run by [Type.Fail]. It is returned as [ErrCancelled] is.
	ErrFailed = errors.New("workflow: the run was failed by an operator")
	// ErrTimedOut: no signal came in the time that [Await] or [Child] was given.
	ErrTimedOut = errors.New("workflow: no signal came in time")
	// ErrNameUsed: a run has two steps of one name. The run is held. Give the steps of a loop names
	// with the number of the pass.
	ErrNameUsed = errors.New("workflow: the run has used the name already")
	// ErrTypeChanged: the stored value of a step, an input or a signal has another type than the
	// program asks for, or cannot be decoded as it. The run is held. Run the former program, name
	// the former type of a step with [Was], register another type under the former name, or let the
	// run go on from the step with [Type.Resume].
	ErrTypeChanged = errors.New("workflow: a stored value has another type")
	// ErrCompensationMissing: the run has failed or was cancelled, and the function of this program
	// has returned without the compensations that it had registered before. The run is held. Run
	// the former program, or call [Run.Compensate] for them before steps that are new. One that is
	// not needed any more may do nothing.
	ErrCompensationMissing = errors.New("workflow: a compensation is not registered any more")
	// ErrNotStorable: a value cannot be stored as it is, for example because a field is not
	// exported, or because it has more than 12 MiB. The text names the field or the size.
	ErrNotStorable = errors.New("workflow: the value cannot be stored")
	// ErrPanicked: the function of the run, or of a branch, has panicked. The run is held. A step
	// that panics fails with this error.
	ErrPanicked = errors.New("workflow: the function has panicked")
	// ErrInvalid: the name of a step, a signal or a tag is not valid, or an operator names a step
	// that the run does not have. The text says which.
	ErrInvalid = errors.New("workflow: invalid request")
)

// errMoves: the actor ends, perhaps on the way to another node. The question is asked again.
var errMoves = errors.New("workflow: the run leaves memory; ask again")

func init() {
	for name, err := range map[string]error{
		"not-found": ErrNotFound, "ended": ErrEnded, "cancelled": ErrCancelled, "failed": ErrFailed, "timed-out": ErrTimedOut,
		"name-used": ErrNameUsed, "type-changed": ErrTypeChanged, "compensation-missing": ErrCompensationMissing, "not-storable": ErrNotStorable, "panicked": ErrPanicked, "invalid": ErrInvalid, "moves": errMoves,
	} {
		actor.RegisterError("understudy/workflow."+name, err)
	}
}
