package persistence

import (
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/internal/fence"
)

// A RecoveryError fails an actor whose state cannot be restored: the journal does not answer, a
// record is damaged or of an unknown type, or the event handler panics. Supervise the actor with a
// backoff, or start a program that can read the event.
type RecoveryError struct {
	ID  string // the persistence id
	Seq uint64 // of the last event that was restored, 0 for none
	Err error  // the cause; an [*actor.PanicError] if the event handler panicked
}

// Error returns the id, the last restored sequence number and the cause.
func (e *RecoveryError) Error() string {
	return fmt.Sprintf("persistence: recovery of %q failed after event %d: %v", e.ID, e.Seq, e.Err)
}

// Unwrap returns the cause.
func (e *RecoveryError) Unwrap() error { return e.Err }

// A RejectedError fails an actor whose events can never be stored: their type is not registered,
// they are too large, or their tags are malformed. Nothing was stored and the state is unchanged,
// so the actor may resume.
type RejectedError struct {
	ID  string // the persistence id
	Err error  // the cause
}

// Error returns the id and the cause.
func (e *RejectedError) Error() string {
	return fmt.Sprintf("persistence: events of %q rejected: %v", e.ID, e.Err)
}

// Unwrap returns the cause.
func (e *RejectedError) Unwrap() error { return e.Err }

// Is lets package singleton recognize a rejection, after which it does not repeat the message.
// After a conflict it does, as the next instance recovers the right sequence number.
func (e *RejectedError) Is(target error) bool {
	return target == fence.ErrRejected && !errors.Is(e.Err, ErrConflict)
}

// A storeError is the failure of an actor whose store does not work now. The command is not at
// fault, and may succeed later.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// Is lets package singleton recognize the failure: it is no attempt at the command.
func (e *storeError) Is(target error) bool { return target == fence.ErrStore }

// failedBy returns err as a failure of the store if that is at fault, and otherwise as it is.
func failedBy(err error) error {
	if errors.Is(err, ErrUnavailable) || errors.Is(err, ErrFull) || errors.Is(err, ErrUnknown) || errors.Is(err, ErrClosed) {
		return &storeError{err}
	}
	return err
}

// isRejection reports whether err is a definite refusal of the request itself.
func isRejection(err error) bool {
	return errors.Is(err, ErrTooLarge) || errors.Is(err, ErrInvalid) || errors.Is(err, ErrConflict)
}

func isTransient(err error) bool {
	if final := (*finalError)(nil); errors.As(err, &final) {
		return false
	}
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrFull) || errors.Is(err, ErrUnknown)
}
