package fence

import "errors"

// Causes of the failure of a writer at a message, by which package singleton decides whether to
// repeat the message. Compare with [errors.Is]; no function returns these errors themselves.
var (
	// ErrRejected: the events of the message can never be stored, so every attempt fails.
	ErrRejected = errors.New("persistence: rejected")
	// ErrStore: the store does not work now, and the message may be stored later.
	ErrStore = errors.New("persistence: the store has failed")
)
