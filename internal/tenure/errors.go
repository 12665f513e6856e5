package tenure

import "errors"

// ErrFenced is the error of a writer that a newer one has replaced. It is final: a restart would
// only fence the newer writer in turn. See actor.Strategy.
var ErrFenced error = final("persistence: fenced by a newer claim")

type final string

func (e final) Error() string { return string(e) }

// Supervision must not restart or resume an actor with this failure.
func (e final) Final() bool { return true }

// ErrForgotten is the error of a writer whose id was erased. It wraps [ErrFenced].
var ErrForgotten error = forgotten("persistence: the id was forgotten; it begins anew only after persistence.Revive")

type forgotten string

func (e forgotten) Error() string { return string(e) }

func (forgotten) Unwrap() error { return ErrFenced }

// ErrLater is the failure of a claim after which an actor stops quietly: see [Tenure.Refused].
var ErrLater = errors.New("persistence: a later term has claimed the id")

// Causes of the failure of a writer at a message, by which package singleton decides whether to
// repeat the message. Compare with [errors.Is]; no function returns these errors themselves.
var (
	// ErrRejected: the events of the message can never be stored, so every attempt fails.
	ErrRejected = errors.New("persistence: rejected")
	// ErrStore: the store does not work now, and the message may be stored later.
	ErrStore = errors.New("persistence: the store has failed")
)
