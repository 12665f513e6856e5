package persistence

import (
	"errors"
	"fmt"
)

// A RecoveryError fails an actor whose state cannot be restored: the journal does not
// answer, what it has is damaged or of an unknown type, or the event handler panics.
type RecoveryError struct {
	ID  string // the persistence id
	Seq uint64 // up to which the state could be restored; 0 when nothing could
	Err error  // the cause; a panic of the event handler is an [*actor.PanicError]
}

// Error returns whose recovery failed, how far it came, and why.
func (e *RecoveryError) Error() string {
	return fmt.Sprintf("persistence: recovery of %q, which came to %d: %v", e.ID, e.Seq, e.Err)
}

// Unwrap returns the cause.
func (e *RecoveryError) Unwrap() error { return e.Err }

// A RejectedError fails an actor whose events cannot be stored because of what they are:
// their type is not registered, they are too large, their tags are malformed. Nothing was
// stored and the state is as it was, so an actor that resumes goes on with it.
type RejectedError struct {
	ID  string
	Err error
}

// Error returns whose events were rejected, and why.
func (e *RejectedError) Error() string {
	return fmt.Sprintf("persistence: events of %q rejected: %v", e.ID, e.Err)
}

// Unwrap returns the cause.
func (e *RejectedError) Unwrap() error { return e.Err }

// isRejection says whether err is a definite refusal that has nothing to do with the
// state of the journal or of other writers.
func isRejection(err error) bool {
	return errors.Is(err, ErrTooLarge) || errors.Is(err, ErrInvalid) || errors.Is(err, ErrConflict)
}

// isPassing says whether the same request may succeed later.
func isPassing(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrFull) || errors.Is(err, ErrUnknown)
}
